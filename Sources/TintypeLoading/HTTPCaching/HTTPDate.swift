package import FoundationEssentials

/// Reads the three formats of dates in HTTP (RFC 9110, section 5.6.7).
///
///     Sun, 06 Nov 1994 08:49:37 GMT
///     Sunday, 06-Nov-94 08:49:37 GMT
///     Sun Nov  6 08:49:37 1994
package enum HTTPDate {
    private static let months = [
        "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11,
        "dec": 12,
    ]

    /// - Parameter now: The reference time for years of two digits: such a year is at most 50 years ahead.
    /// - Returns: `nil` if the text isn't such a date.
    package static func date(_ text: String, now: Date = Date()) -> Date? {
        guard text.utf8.count <= 40 else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        switch words.count {
        case 6 where words[0].hasSuffix(","):
            guard words[5].uppercased() == "GMT" else { return nil }
            return date(year: words[3], month: words[2], day: words[1], time: words[4])
        case 5:
            return date(year: words[4], month: words[1], day: words[2], time: words[3])
        case 6 where words[2].isEmpty:
            return date(year: words[5], month: words[1], day: words[3], time: words[4])
        case 4 where words[0].hasSuffix(","):
            guard words[3].uppercased() == "GMT" else { return nil }
            let parts = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[2].count == 2, let year = number(parts[2]) else { return nil }
            let present = civilYear(of: now)
            var full = present - present % 100 + year
            if full > present + 50 { full -= 100 }
            return date(year: Substring(String(full)), month: parts[1], day: parts[0], time: words[2])
        default:
            return nil
        }
    }

    private static func date(year: Substring, month: Substring, day: Substring, time: Substring) -> Date? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false)
        guard year.count == 4, let year = number(year), let month = months[month.lowercased()], let day = number(day),
            (1...31).contains(day), clock.count == 3, clock.allSatisfy({ $0.count == 2 }), let hour = number(clock[0]),
            let minute = number(clock[1]), let second = number(clock[2]), hour < 24, minute < 60, second <= 60
        else { return nil }
        return Date(timeIntervalSince1970: Double(((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second))
    }

    private static func number(_ text: Substring) -> Int? {
        guard text.count <= 4, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(text)
    }

    /// The days from 1970 to a date of the Gregorian calendar. Years start with March, so that the leap day is the last.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let leapDays = (year + 400) / 4 - (year + 400) / 100 + (year + 400) / 400
        return (year + 400) * 365 + leapDays + dayOfYear - 719_468 - 146_097
    }

    private static func civilYear(of date: Date) -> Int {
        let years = date.timeIntervalSince1970 / (365.2425 * 86_400)
        guard years.isFinite else { return 1970 }
        return 1970 + Int(min(max(years, -1_900), 8_000).rounded(.down))
    }
}
