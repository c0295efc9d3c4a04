import Foundation
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

@Suite("Suggestions of errors", .timeLimited)
struct RecoverySuggestionTests {
    private func error(_ code: ImageError.Code, status: Int? = nil) -> ImageError {
        ImageError(code, stage: .load, reason: "no", statusCode: status)
    }

    @Test(
        "Every kind of failure has a suggestion, which is a sentence", .capability("ERR-11"),
        arguments: [
            ImageError.Code.invalidURL, .loadingDisallowed, .invalidRequest, .recentlyFailed, .notCached,
            .cacheUnavailable,
            .cacheWriteFailed, .connectionFailed, .hostUnavailable, .connectionLost, .timedOut, .badRedirect,
            .badStatus,
            .badContentType, .badResponse, .badRequest, .emptyBody, .incompleteBody, .bodyTooLarge, .fileUnreadable,
            .unknownFormat, .formatNotEnabled, .corruptImage, .truncatedImage, .limitExceeded, .pageOutOfRange,
            .outOfMemory, .decoderCrashed, .decodeTimedOut, .decoderUnavailable, .notAnimated, .transformFailed,
            .encodeFailed, .formatNotEncodable,
        ])
    func everyCode(_ code: ImageError.Code) throws {
        let suggestion = try #require(error(code).recoverySuggestion)
        #expect(suggestion.hasSuffix(".") && suggestion.first?.isUppercase == true)
    }

    @Test("A cancelled load needs no suggestion, and neither does a code of the program's own")
    func none() {
        #expect(error(.cancelled).recoverySuggestion == nil)
        #expect(error(ImageError.Code(rawValue: "own")).recoverySuggestion == nil)
    }

    @Test("Foundation's description of an error has the source and the reason")
    func localizedDescription() {
        let failure = ImageError(
            .badStatus, stage: .load, source: "https://example.org/a.jpg", reason: "HTTP 404 Not Found")
        let erased: any Error = failure
        #expect(erased.localizedDescription == "https://example.org/a.jpg: HTTP 404 Not Found")
        #expect((erased as? any LocalizedError)?.recoverySuggestion == failure.recoverySuggestion)
    }

    @Test("The suggestion for a status depends on it", arguments: [401, 403, 404, 429, 503])
    func statuses(_ status: Int) {
        let others = [401, 403, 404, 429, 503, 418].filter { $0 != status }
        let suggestion = error(.badStatus, status: status).recoverySuggestion
        #expect(
            suggestion != nil && others.allSatisfy { error(.badStatus, status: $0).recoverySuggestion != suggestion })
    }
}
