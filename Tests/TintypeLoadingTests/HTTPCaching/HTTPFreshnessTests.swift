import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// One row of a table: a stored response, a request, and a time, and the use that the specification allows.
struct FreshnessCase: CustomTestStringConvertible, Sendable {
    let section: String
    let headers: [String: String]
    var status = 200
    var request: [String: String] = [:]
    /// The seconds since the response came.
    let after: Double
    let use: HTTPFreshness.Use

    init(
        _ section: String, _ headers: [String: String], status: Int = 200, request: [String: String] = [:],
        after: Double, _ use: HTTPFreshness.Use
    ) {
        (self.section, self.headers, self.status, self.request) = (section, headers, status, request)
        (self.after, self.use) = (after, use)
    }

    var testDescription: String { "RFC \(section): \(headers) \(request) after \(after) s" }

    /// Sun, 06 Nov 1994 08:49:37 GMT
    static let start = Date(timeIntervalSince1970: 784_111_777)
}

private func control(_ value: String, _ more: [String: String] = [:]) -> [String: String] {
    more.merging(["cache-control": value]) { one, _ in one }
}

private let date = "Sun, 06 Nov 1994 08:49:37 GMT"
private let tenDaysEarlier = "Thu, 27 Oct 1994 08:49:37 GMT"

private let lifetimes: [FreshnessCase] = [
    .init("9111, 4.2: fresh while its lifetime exceeds its age", control("max-age=10"), after: 9, .use),
    .init("9111, 4.2: stale when they are equal", control("max-age=10"), after: 10, .revalidate),
    .init(
        "9111, 4.2.1: max-age before Expires", control("max-age=10", ["expires": date, "date": date]), after: 5, .use),
    .init(
        "9111, 4.2.1: Expires minus Date", ["expires": "Sun, 06 Nov 1994 08:50:37 GMT", "date": date], after: 59, .use),
    .init(
        "9111, 4.2.1: Expires minus Date", ["expires": "Sun, 06 Nov 1994 08:50:37 GMT", "date": date], after: 60,
        .revalidate),
    .init(
        "9111, 5.3: without Date, the time of the response counts", ["expires": "Sun, 06 Nov 1994 08:50:37 GMT"],
        after: 59, .use),
    .init(
        "9111, 5.3: an invalid Expires is in the past", ["expires": "0", "last-modified": tenDaysEarlier], after: 1,
        .revalidate),
    .init("9111, 5.2.2.10: s-maxage is for shared caches", control("s-maxage=100"), after: 1, .revalidate),
    .init("9111, 5.2.2.10: s-maxage is for shared caches", control("s-maxage=0, max-age=100"), after: 1, .use),
    .init("9111, 4.2.1: the smaller of two", control("max-age=100, max-age=1"), after: 2, .revalidate),
    .init("9111, 4.2.1: invalid values are stale", control("max-age=-1"), after: 0, .revalidate),
    .init("9111, 4.2.1: invalid values are stale", control("max-age=1.5"), after: 0, .revalidate),
    .init("9111, 1.2.2: numbers beyond the range", control("max-age=99999999999999999999999"), after: 1e9, .use),
    .init(
        "9111, 4.2.2: a tenth of the time since the change", ["last-modified": tenDaysEarlier, "date": date],
        after: 86_399, .use),
    .init(
        "9111, 4.2.2: a tenth of the time since the change", ["last-modified": tenDaysEarlier, "date": date],
        after: 86_400, .revalidate),
    .init("9111, 4.2.2: no guess", [:], after: 0, .revalidate),
    .init("9111, 4.2.2: not for every status", ["last-modified": tenDaysEarlier], status: 403, after: 1, .fetch),
    .init(
        "9111, 4.2.2: unless it is public", control("public", ["last-modified": tenDaysEarlier]), status: 299, after: 1,
        .use),
    .init(
        "9111, 4.2.2: at most a week", ["last-modified": "Sun, 06 Nov 1904 08:49:37 GMT"], after: 604_800, .revalidate),
]

private let ages: [FreshnessCase] = [
    .init("9111, 4.2.3: Age counts", control("max-age=10", ["age": "5"]), after: 4, .use),
    .init("9111, 4.2.3: Age counts", control("max-age=10", ["age": "5"]), after: 5, .revalidate),
    .init(
        "9111, 4.2.3: so does an old Date", control("max-age=10", ["date": "Sun, 06 Nov 1994 08:49:31 GMT"]), after: 4,
        .revalidate),
    .init(
        "9111, 4.2.3: a Date ahead makes nothing younger",
        control("max-age=10", ["date": "Sun, 06 Nov 1994 09:49:31 GMT"]),
        after: 10, .revalidate),
    .init("9111, 5.1: an invalid Age is ignored", control("max-age=10", ["age": "-7200"]), after: 9, .use),
    .init("9111, 5.1: an invalid Age is ignored", control("max-age=10", ["age": "7200.0"]), after: 9, .use),
    .init("9111, 5.1: the first of two", control("max-age=10", ["age": "0, 7200"]), after: 9, .use),
    .init(
        "9111, 1.2.2: an Age beyond the range", control("max-age=99999", ["age": "99999999999999999999"]), after: 0,
        .revalidate),
    .init("9111, 4.2.3: a clock that went back a little", control("max-age=10"), after: -30, .use),
    .init("9111, 4.2.3: a clock that went back", control("max-age=10"), after: -61, .revalidate),
    .init("9111, 4.2.3: a time beyond any range", control("max-age=10"), after: 1e300, .revalidate),
    .init("9111, 4.2.3: no time at all", control("max-age=10"), after: .nan, .revalidate),
]

private let directives: [FreshnessCase] = [
    .init("9111, 5.2.2.4: no-cache", control("no-cache, max-age=100"), after: 1, .revalidate),
    .init(
        "9111, 5.2.2.4: no-cache with fields", control("no-cache=\"set-cookie, a\", max-age=100"), after: 1, .revalidate
    ),
    .init("9111, 5.2.2.5: no-store", control("no-store, max-age=100"), after: 1, .fetch),
    .init("9111, 5.2.2.3: must-understand", control("must-understand, no-store, max-age=100"), after: 1, .use),
    .init("9111, 5.2.2.3: must-understand", control("must-understand, max-age=100"), status: 299, after: 1, .fetch),
    .init("9111, 5.2.2.7: private is for shared caches", control("private, max-age=100"), after: 1, .use),
    .init(
        "9111, 5.2.2.8: proxy-revalidate is for shared caches",
        control("proxy-revalidate, max-age=1, stale-while-revalidate=100"), after: 2, .useAndRevalidate),
    .init("9111, 5.2.3: unknown directives", control("a=b, c=\"max-age=0, d\", max-age=100"), after: 1, .use),
    .init("9111, 5.2: names in any case", control("MAX-AGE=\"100\""), after: 1, .use),
    .init("9111, 3: a partial response", control("max-age=100"), status: 206, after: 1, .fetch),
    .init("5861, 3: within the window", control("max-age=1, stale-while-revalidate=10"), after: 11, .useAndRevalidate),
    .init("5861, 3: after the window", control("max-age=1, stale-while-revalidate=10"), after: 12, .revalidate),
    .init(
        "9111, 5.2.2.2: must-revalidate", control("max-age=1, must-revalidate, stale-while-revalidate=10"), after: 2,
        .revalidate),
]

private let wishes: [FreshnessCase] = [
    .init(
        "9111, 5.2.1.1: max-age", control("max-age=100"), request: ["Cache-Control": "max-age=5"], after: 5, .revalidate
    ),
    .init("9111, 5.2.1.1: max-age", control("max-age=100"), request: ["Cache-Control": "max-age=5"], after: 4, .use),
    .init(
        "9111, 5.2.1.2: max-stale", control("max-age=1"), request: ["Cache-Control": "max-stale=10"], after: 11,
        .useStale),
    .init(
        "9111, 5.2.1.2: max-stale", control("max-age=1"), request: ["Cache-Control": "max-stale"], after: 1e6, .useStale
    ),
    .init(
        "9111, 5.2.2.2: must-revalidate forbids that", control("max-age=1, must-revalidate"),
        request: ["Cache-Control": "max-stale"], after: 2, .revalidate),
    .init(
        "9111, 5.2.1.3: min-fresh", control("max-age=10"), request: ["Cache-Control": "min-fresh=5"], after: 6,
        .revalidate),
    .init(
        "9111, 5.2.1.4: no-cache", control("max-age=10"), request: ["cache-control": "no-cache"], after: 1, .revalidate),
    .init("9111, 5.4: Pragma", control("max-age=10"), request: ["Pragma": "no-cache"], after: 1, .revalidate),
    .init(
        "9111, 5.4: Pragma counts only without Cache-Control", control("max-age=10"),
        request: ["Pragma": "no-cache", "Cache-Control": "max-age=9"], after: 1, .use),
    .init("9110, 14.2: a part is no whole", control("max-age=10"), request: ["Range": "bytes=0-1"], after: 1, .fetch),
]

@Suite("The rules of HTTP for cached images", .timeLimited)
struct HTTPFreshnessTests {
    @Test(
        "A stored response is used as the specification says", .capability("HTC-01", "3.3"),
        arguments: lifetimes + ages + directives + wishes)
    func use(row: FreshnessCase) {
        let response = StoredResponse(
            statusCode: row.status, headers: row.headers, request: SelectingFields(row.request),
            requestTime: FreshnessCase.start, responseTime: FreshnessCase.start)
        let now = FreshnessCase.start.addingTimeInterval(row.after)
        #expect(HTTPFreshness(response, now: now).use(for: row.request) == row.use)
    }

    @Test("The time that a response took makes it older (RFC 9111, section 4.2.3)", .capability("HTC-01"))
    func delay() {
        let response = StoredResponse(
            statusCode: 200, headers: ["cache-control": "max-age=10", "age": "1"], request: SelectingFields([:]),
            requestTime: FreshnessCase.start.addingTimeInterval(-4), responseTime: FreshnessCase.start)
        #expect(HTTPFreshness(response, now: FreshnessCase.start).age == 5)
    }

    @Test(
        "A stale image replaces an answer that didn't come only where that is allowed", .capability("HTC-02"),
        arguments: [
            ("max-age=1", true), ("max-age=1, must-revalidate", false), ("no-cache", false),
            ("max-age=1, stale-if-error=10", true), ("max-age=1, stale-if-error=1", false), ("no-store", false),
        ])
    func withoutSource(control: String, isAllowed: Bool) {
        let response = StoredResponse(
            statusCode: 200, headers: ["cache-control": control], request: SelectingFields([:]),
            requestTime: FreshnessCase.start, responseTime: FreshnessCase.start)
        let freshness = HTTPFreshness(response, now: FreshnessCase.start.addingTimeInterval(5))
        #expect(freshness.mayBeUsedWithoutSource == isAllowed)
    }

    @Test(
        "Dates are read in three formats (RFC 9110, section 5.6.7), and nothing else is",
        .capability("HTC-01"),
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200), ("0", nil), ("", nil), ("-1", nil),
            ("Sun, 06 Nov 1994 08:49:37 gmt", 784_111_777), ("Sun, 06  Nov  1994 08:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 08:49:37 UTC", nil), ("Sun, 06 Nov 1994 08:49:37 PST", nil),
            ("Sun, 06 Nov 1994 08:49 GMT", nil),
            ("Sun, 06 Nov 1994 24:49:37 GMT", nil), ("Sun, 99 Nov 1994 08:49:37 GMT", nil),
            ("Sun, 06 Nov 99999999999999999999 08:49:37 GMT", nil), ("Sun, 06 Nov ١٩٩٤ 08:49:37 GMT", nil),
            (String(repeating: "Sun, 06 Nov 1994 08:49:37 GMT", count: 1_000), nil),
        ] as [(String, Double?)])
    func dates(text: String, seconds: Double?) {
        #expect(HTTPDate.date(text, now: FreshnessCase.start)?.timeIntervalSince1970 == seconds)
    }

    @Test("A year of two digits is at most 50 years ahead", .capability("HTC-01"))
    func shortYears() {
        let now = Date(timeIntervalSince1970: 1_700_000_000)  // 2023
        #expect(HTTPDate.date("Thursday, 18-Aug-50 02:01:18 GMT", now: now)?.timeIntervalSince1970 == 2_544_400_878)
        #expect((HTTPDate.date("Thursday, 18-Aug-94 02:01:18 GMT", now: now)?.timeIntervalSince1970 ?? 0) < 8e8)
    }

    @Test("Hostile header fields make an image stale, and nothing else", .capability("HTC-03"))
    func hostile() {
        let many = Array(repeating: "max-age=1000000", count: 10_000).joined(separator: ",")
        for headers in [
            ["cache-control": many], ["cache-control": "max-age=\"" + String(repeating: "\\", count: 4_000)],
            ["expires": String(repeating: "9", count: 100_000)], ["age": String(repeating: "9", count: 3_000)],
            ["cache-control": ",,,,=,;=\"", "date": "\u{0}"],
            ["vary": Array(repeating: "a", count: 5_000).joined(separator: ",")],
            // Short names, whose digests would take more than the image.
            ["vary": (0..<17).map { "x\($0)" }.joined(separator: ","), "cache-control": "max-age=100"],
        ] {
            let response = StoredResponse(
                statusCode: 200, headers: headers, request: SelectingFields(["a": "1"]),
                requestTime: Date(timeIntervalSince1970: .infinity), responseTime: FreshnessCase.start)
            let isStale = HTTPFreshness(response, now: FreshnessCase.start).use() == .revalidate
            #expect(isStale || !response.isSelected(by: SelectingFields(["a": "1"])))
            #expect(response.encoded.count < 20_000)
            #expect(decoded(response.encoded).headers == response.headers)
        }
    }

    private func decoded(_ data: Data) -> StoredResponse { data.withUnsafeBytes { StoredResponse(encoded: $0) } }

    @Test("A response that is damaged on disk is for no request", .capability("HTC-03"))
    func damaged() {
        let fields = SelectingFields(["Accept": "a"])
        let response = StoredResponse(
            statusCode: 200, headers: ["vary": "accept"], request: fields,
            requestTime: FreshnessCase.start, responseTime: FreshnessCase.start)
        let encoded = response.encoded
        #expect(decoded(encoded) == response && decoded(encoded).isSelected(by: fields))
        var huge = encoded
        huge.replaceSubrange(24..<28, with: [255, 255, 255, 255])
        for damaged in (0..<encoded.count).map({ encoded.prefix($0) }) + [huge] {
            let response = decoded(damaged)
            #expect(!response.isForPlainRequests && !response.isSelected(by: fields))
            #expect(!response.isSelected(by: SelectingFields([:])))
        }
    }

    @Test("No credentials are stored", .capability("HTC-04"))
    func digests() {
        let fields = SelectingFields(["Authorization": "Basic c2VjcmV0"], credentials: ["authorization"])
        let response = StoredResponse(
            statusCode: 200, headers: [:], request: fields, requestTime: .distantPast, responseTime: .distantPast)
        #expect(!String(decoding: response.encoded, as: UTF8.self).contains("c2VjcmV0"))
        #expect(response.isSelected(by: fields))
        #expect(!response.isSelected(by: SelectingFields([:], credentials: ["authorization"])))
    }
}
