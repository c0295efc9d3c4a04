internal import FoundationEssentials
internal import TintypeLoading

/// Reads the dates of cookies, which servers write in many forms (RFC 6265, section 5.1.1).
///
///     Wed, 09-Jun-2027 10:18:14 GMT
///     Thu, 01 Jan 1970 0:0:0 UTC
enum CookieDate {
    /// - Returns: `nil` if the text has no day, month, year, or time.
    static func date(_ text: String) -> Date? {
        guard text.utf8.count <= 100 else { return nil }
        var (time, day, month, year): (String?, Int?, Substring?, Int?)
        for token in text.split(whereSeparator: isDelimiter) {
            // The first token of each kind counts.
            if time == nil, let found = clock(token) {
                time = found
            } else if day == nil, let found = leadingNumber(token, digits: 1...2) {
                day = found
            } else if month == nil, isMonth(token.prefix(3)) {
                month = token.prefix(3)
            } else if year == nil, let found = leadingNumber(token, digits: 2...4) {
                year = found < 70 ? found + 2_000 : found < 100 ? found + 1_900 : found
            }
        }
        guard let time, let day, let month, let year, year > 1_600 else { return nil }
        return HTTPDate.date("Thu, \(day) \(month) \(year) \(time) GMT")
    }

    private static func isDelimiter(_ character: Character) -> Bool {
        guard let byte = character.asciiValue else { return false }
        return switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    private static func isMonth(_ name: Substring) -> Bool {
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
            .contains(name.lowercased())
    }

    /// The number at the start of a token, if it has so many digits.
    private static func leadingNumber(_ token: Substring, digits range: ClosedRange<Int>) -> Int? {
        let digits = token.prefix { $0.isASCII && $0.isNumber }
        return range.contains(digits.count) ? Int(digits) : nil
    }

    /// A time such as `8:09:37`, with two digits for each part.
    private static func clock(_ token: Substring) -> String? {
        let parts = token.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let numbers = parts.enumerated().compactMap { index, part in
            // Only after the last number, there may be something else.
            index < 2 && !part.allSatisfy { $0.isASCII && $0.isNumber } ? nil : leadingNumber(part, digits: 1...2)
        }
        guard numbers.count == 3 else { return nil }
        return numbers.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }
}
