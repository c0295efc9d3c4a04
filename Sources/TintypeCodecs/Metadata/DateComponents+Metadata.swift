internal import FoundationEssentials

extension DateComponents {
    /// The date and time of metadata, as far as they are known.
    ///
    /// Exif has `2024:05:01 12:30:15`, to which a fraction and an offset are appended here, XMP has `2024-05-01T12:30:15.25+02:00` or a
    /// beginning of it (XMP, part 1, section 8.2.1.2), and IPTC-IIM `20240501`, and `123015+0200` behind it. So any or no character may
    /// separate the numbers.
    /// - Returns: `nil` if there is no year, or the parts are out of range.
    init?(metadata text: String) {
        var rest = Substring(text).utf8[...]
        func digits(_ count: Int) -> Int? {
            let digits = rest.prefix(count)
            guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            rest = rest.dropFirst(count)
            return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
        func next(behind separators: String) -> Int? {
            let before = rest
            if let first = rest.first, separators.utf8.contains(first) { rest = rest.dropFirst() }
            let number = digits(2)
            if number == nil { rest = before }
            return number
        }
        self.init()
        guard let year = digits(4), year > 0 else { return nil }
        self.year = year
        // IPTC-IIM has zeros for what is unknown.
        guard let month = next(behind: "-:/"), month > 0 else { return }
        guard month <= 12 else { return nil }
        self.month = month
        guard let day = next(behind: "-:/"), day > 0 else { return }
        guard day <= Self.days(month, year) else { return nil }
        self.day = day
        guard let hour = next(behind: "T :"), let minute = next(behind: ":") else { return }
        guard hour < 24, minute < 60 else { return nil }
        (self.hour, self.minute) = (hour, minute)
        if let second = next(behind: ":") {
            // 60 is a leap second.
            guard second <= 60 else { return nil }
            self.second = second
            if let point = rest.first, ".,".utf8.contains(point) {
                let fraction = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
                nanosecond = (0..<9).reduce(0) { sum, place in
                    sum * 10 + Int((fraction.dropFirst(place).first ?? 0x30) - 0x30)
                }
                rest = rest[fraction.endIndex...]
            }
        }
        rest = rest.drop { $0 == 0x20 }
        let sign = rest.popFirst()
        var seconds = 0
        switch sign {
        case UInt8(ascii: "Z"): break
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            guard let hours = digits(2), let minutes = next(behind: ":"), hours <= 14, minutes < 60 else { return }
            seconds = (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -60 : 60)
        default: return
        }
        timeZone = TimeZone(secondsFromGMT: seconds)
        calendar = timeZone.map { zone in
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = zone
            return calendar
        }
    }

    private static func days(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
