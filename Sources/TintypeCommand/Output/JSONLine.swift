internal import FoundationEssentials
internal import TintypeCore

/// Results for programs: one JSON object per line, with its keys in alphabetical order.
enum JSONLine {
    static func encode(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            // Only numbers that JSON does not have fail, and reports have none.
            return "{}"
        }
    }
}

/// An error as `--json` shows it.
struct ErrorReport: Encodable, Equatable {
    var code: String
    var stage: String
    var reason: String

    init(_ error: ImageError) {
        code = error.code.rawValue
        stage = error.stage.rawValue
        reason = error.reason
    }
}

extension Duration {
    /// The duration in milliseconds with three decimals, as reports show it.
    var reportedMilliseconds: Double { (inMilliseconds * 1_000).rounded() / 1_000 }
}
