#if SVG
/// Splits CSS into tokens (CSS Syntax Module Level 3, section 4), with escapes resolved, as far as limits on drawings depend on them.
struct CSSTokenizer {
    enum Token: Equatable {
        /// A name, in lower case.
        case name(String)
        /// The name of a function, in lower case, whose arguments follow.
        case function(String)
        case url([UInt8])
        case string([UInt8])
        /// A name after `#`.
        case hash([UInt8])
        /// A name after `@`, in lower case.
        case keyword(String)
        /// A number, in pixels if it has a unit. Of units that depend on fonts or the canvas, any is as long as ``SVGNumber/longestUnit``.
        case number(Double)
        /// A part of what the property refers to: a percentage, or a number of `em`.
        case part(Double)
        case space
        /// Any other character.
        case mark(UInt8)
    }

    private let bytes: ArraySlice<UInt8>
    private var place: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        place = bytes.startIndex
    }

    /// All tokens.
    /// - Complexity: O(bytes)
    static func tokens(_ bytes: ArraySlice<UInt8>) -> [Token] {
        var tokenizer = CSSTokenizer(withLineFeeds(bytes))
        var tokens: [Token] = []
        while let token = tokenizer.next() { tokens.append(token) }
        return tokens
    }

    /// The text with line feeds in place of other line breaks, which end strings too (section 3.3).
    private static func withLineFeeds(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard bytes.contains(where: { $0 == 0x0C || $0 == 0x0D }) else { return bytes }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var last: UInt8?
        for byte in bytes {
            if byte != 0x0A || last != 0x0D { text.append(byte == 0x0C || byte == 0x0D ? 0x0A : byte) }
            last = byte
        }
        return text[...]
    }

    private func byte(_ distance: Int = 0) -> UInt8? {
        let index = place + distance
        return index < bytes.endIndex ? bytes[index] : nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0C, 0x0D].contains(byte) }

    private static func isDigit(_ byte: UInt8?) -> Bool { byte.map { (0x30...0x39).contains($0) } ?? false }

    private static func isName(_ byte: UInt8?) -> Bool {
        guard let byte else { return false }
        return byte >= 0x80 || byte == 0x2D || byte == 0x5F || byte == 0 || isDigit(byte)
            || (0x61...0x7A).contains(byte | 0x20)
    }

    mutating func next() -> Token? {
        while byte() == UInt8(ascii: "/"), byte(1) == UInt8(ascii: "*") { skipComment() }
        guard let first = byte() else { return nil }
        if Self.isSpace(first) {
            while let byte = byte(), Self.isSpace(byte) { place += 1 }
            return .space
        }
        switch first {
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            place += 1
            return .string(string(first))
        case UInt8(ascii: "#") where startsName(1):
            place += 1
            return .hash(name())
        case UInt8(ascii: "@") where startsName(1):
            place += 1
            return .keyword(String(decoding: name(), as: UTF8.self).lowercased())
        default: break
        }
        if startsNumber { return number() }
        guard startsName(0) else {
            place += 1
            return .mark(first)
        }
        let name = String(decoding: name(), as: UTF8.self).lowercased()
        guard byte() == UInt8(ascii: "(") else { return .name(name) }
        place += 1
        return name == "url" ? url() : .function(name)
    }

    private mutating func skipComment() {
        place += 2
        while byte() != nil {
            if byte() == UInt8(ascii: "*"), byte(1) == UInt8(ascii: "/") {
                place += 2
                return
            }
            place += 1
        }
    }

    private func startsEscape(_ distance: Int) -> Bool {
        byte(distance) == UInt8(ascii: "\\") && byte(distance + 1) != nil && byte(distance + 1) != 0x0A
    }

    private func startsName(_ distance: Int) -> Bool { Self.isName(byte(distance)) || startsEscape(distance) }

    private var startsNumber: Bool {
        let sign = byte() == UInt8(ascii: "+") || byte() == UInt8(ascii: "-") ? 1 : 0
        return Self.isDigit(byte(sign)) || byte(sign) == UInt8(ascii: ".") && Self.isDigit(byte(sign + 1))
    }

    private mutating func number() -> Token {
        let (value, end) = SVGNumber.read(bytes, from: place) ?? (0, place + 1)
        place = end
        if startsName(0) {
            let unit = String(decoding: name(), as: UTF8.self).lowercased()
            return unit == "em" ? .part(value) : .number(value * (SVGNumber.units[unit] ?? SVGNumber.longestUnit))
        }
        guard byte() == UInt8(ascii: "%") else { return .number(value) }
        place += 1
        return .part(value / 100)
    }

    private mutating func name() -> [UInt8] {
        var name: [UInt8] = []
        while true {
            if startsEscape(0) {
                name += escape()
            } else if let byte = byte(), Self.isName(byte) {
                name.append(byte)
                place += 1
            } else {
                return name
            }
        }
    }

    /// A backslash, and one to six hexadecimal digits with one space behind them, or any other character.
    private mutating func escape() -> [UInt8] {
        place += 1
        var (value, digits) = (UInt32(0), 0)
        while digits < 6, let byte = byte(), let digit = Character(UnicodeScalar(byte)).hexDigitValue {
            value = value << 4 | UInt32(digit)
            digits += 1
            place += 1
        }
        guard digits > 0 else {
            defer { place += 1 }
            return byte().map { [$0] } ?? []
        }
        if let byte = byte(), Self.isSpace(byte) { place += 1 }
        let scalar = UnicodeScalar(value).flatMap { $0.value == 0 ? nil : $0 } ?? "\u{FFFD}"
        return Array(String(Character(scalar)).utf8)
    }

    private mutating func string(_ quote: UInt8) -> [UInt8] {
        var contents: [UInt8] = []
        while let byte = byte() {
            if byte == quote {
                place += 1
                return contents
            }
            if byte == 0x0A { return contents }
            if byte == UInt8(ascii: "\\") {
                if self.byte(1) == 0x0A { place += 2 } else { contents += escape() }
            } else {
                contents.append(byte)
                place += 1
            }
        }
        return contents
    }

    /// The rest of `url(`, with or without quotes.
    private mutating func url() -> Token {
        while let byte = byte(), Self.isSpace(byte) { place += 1 }
        if let quote = byte(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
            place += 1
            return .url(string(quote))
        }
        var contents: [UInt8] = []
        while let byte = byte() {
            if byte == UInt8(ascii: ")") {
                place += 1
                break
            }
            if byte == UInt8(ascii: "\\") {
                contents += escape()
            } else {
                if !Self.isSpace(byte) { contents.append(byte) }
                place += 1
            }
        }
        return .url(contents)
    }
}

/// Numbers in attributes and styles.
enum SVGNumber {
    /// A factor for any unit but the pixel: an inch has 96, and an em or a percent rarely more than a hundred.
    static let longestUnit = 100.0
    /// The pixels of the absolute units (CSS Values and Units Module Level 4, section 6.2).
    static let units = [
        "px": 1, "pt": 96.0 / 72, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "q": 2.4 / 2.54,
    ]
    /// Larger numbers count as this one, so that no product or sum of costs is infinite.
    private static let largest = 1e15

    /// Reads a number at a place.
    /// - Returns: the number, and the place behind it; `nil` if there is none.
    static func read(_ bytes: ArraySlice<UInt8>, from start: Int) -> (value: Double, end: Int)? {
        var place = start
        func digit() -> Double? {
            guard place < bytes.endIndex, (0x30...0x39).contains(bytes[place]) else { return nil }
            return Double(bytes[place] - 0x30)
        }
        func isNext(_ characters: StaticString) -> Bool {
            guard place < bytes.endIndex else { return false }
            return UnsafeBufferPointer(start: characters.utf8Start, count: characters.utf8CodeUnitCount)
                .contains(bytes[place])
        }
        var (value, digits, sign) = (0.0, 0, 1.0)
        if isNext("+-") {
            if bytes[place] == UInt8(ascii: "-") { sign = -1 }
            place += 1
        }
        while let digit = digit() {
            value = value * 10 + digit
            digits += 1
            place += 1
        }
        if isNext(".") {
            place += 1
            var unit = 0.1
            while let digit = digit() {
                value += digit * unit
                unit /= 10
                digits += 1
                place += 1
            }
        }
        guard digits > 0 else { return nil }
        let end = place
        guard isNext("eE") else { return (sign * min(value, largest), end) }
        place += 1
        var isNegative = false
        if isNext("+-") {
            isNegative = bytes[place] == UInt8(ascii: "-")
            place += 1
        }
        guard digit() != nil else { return (sign * min(value, largest), end) }
        var exponent = 0
        while let digit = digit() {
            exponent = min(400, exponent * 10 + Int(digit))
            place += 1
        }
        // Many digits may make the number infinite before a negative exponent.
        value = min(value, 1e300)
        for _ in 0..<exponent { value = isNegative ? value / 10 : value * 10 }
        return (sign * min(value, largest), place)
    }

    /// All numbers of a list.
    static func all(_ bytes: ArraySlice<UInt8>) -> [Double] {
        var numbers: [Double] = []
        var place = bytes.startIndex
        while place < bytes.endIndex {
            guard let (number, end) = read(bytes, from: place) else {
                place += 1
                continue
            }
            numbers.append(number)
            place = end
        }
        return numbers
    }
}
#endif
