internal import FoundationEssentials
package import TintypeLoading

/// Results for programs: a JSON object per line, with its keys in alphabetical order.
package enum JSONLine {
    package static func encode(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return escaped(String(decoding: try encoder.encode(value), as: UTF8.self))
        } catch {
            // Only numbers that JSON does not have fail, and reports have none.
            return "{}"
        }
    }

    /// Escapes the characters that a console would replace. They are left in strings only, and are all below U+10000.
    private static func escaped(_ json: String) -> String {
        guard json.unicodeScalars.contains(where: Console.isControl) else { return json }
        var result = String.UnicodeScalarView()
        for scalar in json.unicodeScalars {
            guard Console.isControl(scalar) else {
                result.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16)
            result.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars)
        }
        return String(result)
    }
}

/// An error as `--json` shows it.
package struct ErrorReport: Encodable, Equatable {
    package var code: String
    package var stage: String
    package var reason: String

    package init(_ error: ImageError) {
        code = error.code.rawValue
        stage = error.stage.rawValue
        reason = error.reason
    }
}

/// The report of a file that failed.
package struct FileFailure: Encodable {
    var path: String
    var error: ErrorReport

    package init(path: String, _ error: ImageError) {
        self.path = path
        self.error = ErrorReport(error)
    }
}

extension Duration {
    /// The duration in milliseconds with three decimals, as reports show it.
    package var reportedMilliseconds: Double { (inMilliseconds * 1_000).rounded() / 1_000 }
}
