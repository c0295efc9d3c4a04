/// The directives of a `Cache-Control` field that matter to a private cache (RFC 9111, section 5.2; RFC 5861; RFC 8246).
///
/// Numbers of seconds that are too large are 2^31, and invalid numbers are 0, which makes a response stale (sections 1.2.2 and 4.2.1). Of
/// repeated directives, the smaller number counts. `s-maxage` and `proxy-revalidate` don't concern a private cache; `private` lets a
/// response be stored, but not in a ``RemoteImageCache``, which is shared.
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
            apply(name, separator.map { element[($0 + 1)...] })
        }
    }

    private mutating func apply(_ name: String, _ argument: ArraySlice<UInt8>?) {
        func smaller(_ old: Double?) -> Double { min(old ?? .infinity, Self.seconds(argument ?? [])) }
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
        let quote = UInt8(ascii: "\"")
        let isQuoted = argument.first == quote && argument.last == quote
        return deltaSeconds(isQuoted ? argument.dropFirst().dropLast() : argument) ?? 0
    }

    /// A number of seconds, at most 2^31 (RFC 9111, section 1.2.2); `nil` if there is anything but digits.
    package static func deltaSeconds(_ digits: some Collection<UInt8>) -> Double? {
        guard !digits.isEmpty, digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return min(Double(String(decoding: digits, as: UTF8.self)) ?? .infinity, maximumSeconds)
    }

    /// The elements of a list, without the white space around them (RFC 9110, section 5.6.1). A comma in a quoted string separates nothing.
    package static func elements(of field: String) -> [ArraySlice<UInt8>] {
        var (isQuoted, isEscaped) = (false, false)
        let elements = Array(field.utf8).split { byte in
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            }
            return byte == UInt8(ascii: ",") && !isQuoted
        }
        func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        return elements.compactMap { element in
            let element = element.drop(while: isSpace)
            return element.lastIndex { !isSpace($0) }.map { element[...$0] }
        }
    }
}
