internal import FoundationEssentials

/// The field `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date.
enum RetryAfter {
    /// Returns the delay that a server asks for; `nil` without a valid field.
    /// - Parameters:
    ///   - field: the value of the field.
    ///   - date: the value of the response's `Date`, which counts instead of this computer's clock.
    ///   - now: the time of this computer, for responses without a date.
    static func delay(_ field: String?, date: String?, now: @autoclosure () -> Date) -> Duration? {
        guard let field = field?.trimmed, !field.isEmpty else { return nil }
        if field.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) {
            // Beyond 64 bits, or any sensible limit, a number is simply too long.
            return .seconds(min(Int(field) ?? .max, Int(Duration.longestLimit.components.seconds)))
        }
        guard let end = HTTPDate.parse(field) else { return nil }
        let start = date.flatMap { HTTPDate.parse($0.trimmed) } ?? now()
        let seconds = end.timeIntervalSince(start)
        return .seconds(min(max(0, seconds), Double(Duration.longestLimit.components.seconds)))
    }
}

/// Dates of HTTP in the preferred format, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns the date; `nil` if the text has another format.
    static func parse(_ text: String) -> Date? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT",
            let day = number(parts[1], digits: 2), (1...31).contains(day),
            let month = months.firstIndex(of: String(parts[2])),
            let year = number(parts[3], digits: 4)
        else { return nil }
        let time = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard time.count == 3, let hour = number(time[0], digits: 2), hour < 24,
            let minute = number(time[1], digits: 2), minute < 60,
            let second = number(time[2], digits: 2), second <= 60
        else { return nil }
        let days = daysSinceEpoch(year: year, month: month + 1, day: day)
        return Date(timeIntervalSince1970: Double(days * 86_400 + hour * 3_600 + minute * 60 + second))
    }

    private static func number(_ text: Substring, digits: Int) -> Int? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int(text)
    }

    /// The days from 1970-01-01 in the Gregorian calendar. Years begin in March, so that the leap day is the last.
    private static func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

extension String {
    /// The text without spaces and tabs at its ends.
    var trimmed: String {
        var text = self[...]
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}
