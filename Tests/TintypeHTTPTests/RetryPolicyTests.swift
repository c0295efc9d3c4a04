#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeTesting

@testable import TintypeHTTP

@Suite("Retry policies", .timeLimited)
struct RetryPolicyTests {
    private let lost = ImageError(.connectionLost, stage: .load, reason: "")

    @Test("The bound of the delay doubles up to its maximum, and the delay is a random part of it", .capability("3.4"))
    func delays() {
        let policy = RetryPolicy(
            maximumAttempts: 8, baseDelay: .seconds(1), maximumDelay: .seconds(10)
        ).jittering { 0.5 }
        let delays = (1...8).map { policy.delay(after: lost, attempts: $0, retryAfter: nil) }
        #expect(
            delays == [
                .milliseconds(500), .seconds(1), .seconds(2), .seconds(4), .seconds(5), .seconds(5), .seconds(5), nil,
            ])
    }

    @Test("Durations and numbers beyond any range give a delay within the bounds")
    func extremes() {
        let long = Duration.seconds(Int64.max)
        let policy = RetryPolicy(
            maximumAttempts: .max, baseDelay: long, maximumDelay: long, maximumRetryAfter: long
        ).jittering { .nan }
        let delay = policy.delay(after: lost, attempts: .max - 1, retryAfter: nil)
        #expect(delay == .longestLimit)
        let negative = RetryPolicy(baseDelay: .seconds(-5), maximumDelay: .seconds(-1)).jittering { 7 }
        #expect(negative.delay(after: lost, attempts: 1, retryAfter: nil) == .zero)
        #expect(RetryPolicy(maximumAttempts: -3).delay(after: lost, attempts: 1, retryAfter: nil) == nil)
        let random = RetryPolicy(baseDelay: .seconds(1)).jittering { -1 }
        #expect(random.delay(after: lost, attempts: 1, retryAfter: nil) == .zero)
    }

    @Test("A server's Retry-After replaces a shorter delay; one beyond the maximum ends the load")
    func retryAfter() {
        let policy = RetryPolicy(maximumRetryAfter: .seconds(60)).jittering { 1 }
        #expect(policy.delay(after: lost, attempts: 1, retryAfter: .seconds(7)) == .seconds(7))
        #expect(policy.delay(after: lost, attempts: 1, retryAfter: .zero) == .milliseconds(500))
        #expect(policy.delay(after: lost, attempts: 1, retryAfter: .seconds(61)) == nil)
    }

    @Test(
        "Retry-After is a number of seconds or a date, relative to the date of the response",
        arguments: [
            ("0", nil, 0), ("120", nil, 120), (" 5 ", nil, 5), ("Sun, 06 Nov 1994 08:49:37 GMT", nil, 37),
            ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:30 GMT", 7),
            ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1995 08:49:30 GMT", 0),
            ("99999999999999999999999999", nil, 315_360_000), ("Fri, 31 Dec 9999 23:59:59 GMT", nil, 315_360_000),
            ("-1", nil, nil), ("soon", nil, nil), ("", nil, nil), ("1.5", nil, nil), ("٣", nil, nil),
        ] as [(String, String?, Int?)])
    func parsing(_ field: String, _ date: String?, _ seconds: Int?) {
        let now = Date(timeIntervalSince1970: 784_111_740)
        #expect(RetryAfter.delay(field, date: date, now: now) == seconds.map { .seconds($0) })
    }

    @Test("Errors that may pass are retried; others, and cancellations, are not")
    func transient() {
        for code in [ImageError.Code.connectionFailed, .connectionLost, .timedOut, .incompleteBody] {
            #expect(RetryPolicy.isTransient(ImageError(code, stage: .load, reason: "")))
        }
        for code in [
            ImageError.Code.cancelled, .invalidURL, .badRedirect, .bodyTooLarge, .hostUnavailable, .badResponse,
        ] {
            #expect(!RetryPolicy.isTransient(ImageError(code, stage: .load, reason: "")))
        }
        let statuses = (100..<600).filter {
            RetryPolicy.isTransient(ImageError(.badStatus, stage: .load, reason: "", statusCode: $0))
        }
        #expect(statuses == [408, 425, 429, 500, 502, 503, 504])
        let always = RetryPolicy(isRetryable: { _ in true })
        #expect(always.delay(after: .cancelledTransfer, attempts: 1, retryAfter: nil) == nil)
    }

    @Test("A budget refills with time")
    func budget() {
        var budget = RetryBudget(perMinute: 2, at: .zero)
        // The last clock goes back, which refills nothing.
        let taken = [0, 0, 0, 29, 31, 31, 1_000, 1_000, 1_000, 0].map { budget.take(at: .seconds($0)) }
        #expect(taken == [true, true, false, false, true, false, true, true, false, false])
        var none = RetryBudget(perMinute: -1, at: .zero)
        let isTaken = none.take(at: .seconds(1_000))
        #expect(!isTaken)
    }

    @Test("A breaker opens after failures in a row, lets one probe through, and closes after its success")
    func breaker() {
        var breaker = CircuitBreaker(.init(failureThreshold: 2, pause: .seconds(10)))
        breaker.recordFailure(isProbe: false, at: .zero)
        breaker.recordSuccess()
        breaker.recordFailure(isProbe: false, at: .zero)
        let verdict1 = breaker.admit(at: .zero)
        #expect(verdict1 == .allowed)
        breaker.recordFailure(isProbe: false, at: .seconds(1))
        let verdict2 = breaker.admit(at: .seconds(10))
        #expect(verdict2 == .refused(until: .seconds(11)))
        let verdict3 = breaker.admit(at: .seconds(11))
        #expect(verdict3 == .probe)
        let verdict4 = breaker.admit(at: .seconds(11))
        #expect(verdict4 == .refused(until: nil))
        // An old request that fails only now doesn't concern the probe.
        breaker.recordFailure(isProbe: false, at: .seconds(12))
        breaker.recordFailure(isProbe: true, at: .seconds(12))
        let verdict5 = breaker.admit(at: .seconds(21))
        #expect(verdict5 == .refused(until: .seconds(22)))
        let verdict6 = breaker.admit(at: .seconds(22))
        #expect(verdict6 == .probe)
        // A cancelled probe makes room for another.
        breaker.recordNothing(isProbe: true, at: .seconds(22))
        let verdict7 = breaker.admit(at: .seconds(22))
        #expect(verdict7 == .probe)
        breaker.recordSuccess()
        let verdict8 = breaker.admit(at: .seconds(22))
        #expect(verdict8 == .allowed && breaker.isIdle)
    }

    @Test("A breaker counts the statuses of gateways and overload; any other response ends the row")
    func breakerStatuses() {
        let statuses = (100..<600).filter {
            CircuitBreakerPolicy.concernsServer(ImageError(.badStatus, stage: .load, reason: "", statusCode: $0))
        }
        #expect(statuses == [502, 503, 504])
        let records = ServerRecords(
            retry: RetryPolicy(), breaker: CircuitBreakerPolicy(failureThreshold: 2), now: { .zero })
        for status in [503, 500, 503, 429, 503] {
            let error = ImageError(.badStatus, stage: .load, reason: "", statusCode: status)
            records.record(error, of: "server", isProbe: false, hasAnswered: true)
        }
        func record(_ code: ImageError.Code, hasAnswered: Bool) {
            let error = ImageError(code, stage: .load, reason: "")
            records.record(error, of: "server", isProbe: false, hasAnswered: hasAnswered)
        }
        for code in [ImageError.Code.emptyBody, .bodyTooLarge, .badContentType, .badResponse, .badRedirect] {
            record(code, hasAnswered: true)
            record(.timedOut, hasAnswered: false)
        }
        #expect(throws: Never.self) { try records.admit("server") }
        // What failed before the server was asked says nothing of it.
        record(.badRedirect, hasAnswered: false)
        // A connection that breaks behind its head is a failure, whether its length was known or not.
        record(.incompleteBody, hasAnswered: true)
        #expect(throws: ImageError.self) { try records.admit("server") }
    }

    @Test("Thresholds below 1 open after the first failure, and huge pauses overflow nothing")
    func breakerExtremes() {
        var breaker = CircuitBreaker(.init(failureThreshold: .min, pause: .seconds(Int64.max)))
        breaker.recordFailure(isProbe: false, at: .zero)
        let verdict9 = breaker.admit(at: .seconds(1))
        #expect(verdict9 == .refused(until: .longestLimit))
    }
}
#endif
