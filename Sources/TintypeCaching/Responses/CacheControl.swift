/// The directives of a `Cache-Control` field that matter to a private cache (RFC 9111, section 5.2; RFC 5861; RFC 8246).
///
/// Numbers of seconds that are too large are 2^31, and invalid numbers are 0, which makes a response stale (sections 1.2.2 and 4.2.1). Of
/// repeated directives, the smaller number counts. `private`, `s-maxage`, and `proxy-revalidate` don't concern a private cache.
package struct CacheControl: Equatable, Sendable {
    package var isPublic = false
    package var isPrivate = false
    package var noStore = false
    package var noCache = false
    package var mustRevalidate = false
    package var mustUnderstand = false
    package var immutable = false
    package var maxAge: Double?
    package var staleWhileRevalidate: Double?
    package var staleIfError: Double?
    /// The directives of requests. `.infinity` is `max-stale` without a number.
    package var minFresh: Double?
    package var maxStale: Double?
    package var onlyIfCached = false

    /// The largest number of seconds that a cache has to know.
    static let maximumSeconds = 2_147_483_648.0

    /// - Parameter field: The values of the field, joined with commas. Unknown directives are ignored.
    package init(_ field: String?) {
        guard let field else { return }
        for element in Self.elements(of: field) {
            let separator = element.firstIndex(of: UInt8(ascii: "="))
            let name = String(decoding: element[..<(separator ?? element.endIndex)], as: UTF8.self).lowercased()
            apply(name, separator.map { element[element.index(after: $0)...] })
        }
    }

    private mutating func apply(_ name: String, _ argument: ArraySlice<UInt8>?) {
        func smaller(_ old: Double?) -> Double {
            let seconds = Self.seconds(argument ?? [])
            return old.map { min($0, seconds) } ?? seconds
        }
        switch name {
        case "public": isPublic = true
        case "private": isPrivate = true
        case "no-store": noStore = true
        // With names of fields, it may be treated as if it had none (section 5.2.2.4).
        case "no-cache": noCache = true
        case "must-revalidate": mustRevalidate = true
        case "must-understand": mustUnderstand = true
        case "immutable": immutable = true
        case "max-age": maxAge = smaller(maxAge)
        case "stale-while-revalidate": staleWhileRevalidate = smaller(staleWhileRevalidate)
        case "stale-if-error": staleIfError = smaller(staleIfError)
        case "min-fresh": minFresh = smaller(minFresh)
        case "max-stale": maxStale = argument == nil ? maxStale ?? .infinity : smaller(maxStale)
        case "only-if-cached": onlyIfCached = true
        default: break
        }
    }

    /// The number of seconds of an argument, which may be quoted; 0 if it is invalid.
    private static func seconds(_ argument: ArraySlice<UInt8>) -> Double {
        var digits = argument
        if digits.count >= 2, digits.first == UInt8(ascii: "\""), digits.last == UInt8(ascii: "\"") {
            digits = digits.dropFirst().dropLast()
        }
        return deltaSeconds(digits) ?? 0
    }

    /// A number of seconds, at most 2^31 (RFC 9111, section 1.2.2); `nil` if there is anything but digits.
    package static func deltaSeconds(_ digits: some Collection<UInt8>) -> Double? {
        guard !digits.isEmpty else { return nil }
        var value = 0.0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = min(value * 10 + Double(digit - UInt8(ascii: "0")), maximumSeconds)
        }
        return value
    }

    /// The elements of a list, without the white space around them (RFC 9110, section 5.6.1). A comma in a quoted string separates nothing.
    package static func elements(of field: String) -> [ArraySlice<UInt8>] {
        let bytes = Array(field.utf8)
        var elements: [ArraySlice<UInt8>] = []
        var (start, isQuoted, isEscaped) = (0, false, false)
        func add(_ end: Int) {
            func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
            var element = bytes[start..<end].drop(while: isSpace)
            while let last = element.last, isSpace(last) { element.removeLast() }
            if !element.isEmpty { elements.append(element) }
        }
        for (index, byte) in bytes.enumerated() {
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: ","), !isQuoted {
                add(index)
                start = index + 1
            }
        }
        add(bytes.count)
        return elements
    }
}
