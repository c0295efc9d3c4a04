package import FoundationEssentials
internal import Glibc

extension URL {
    /// The URL with its host as it is asked for: in ASCII (RFC 5891 and UTS #46), and without escapes.
    ///
    /// FoundationEssentials escapes the letters of a host that aren't ASCII. Foundation, which has the tables of Unicode, writes it in ASCII itself.
    /// `nil` if no host can have that name or address, or the system has no libidn2.
    package var withASCIIHost: URL? {
        guard let host = host(percentEncoded: true) else { return self }
        if hasBrackets { return Self.isAddress(host) ? self : nil }
        guard host.utf8.contains(where: { $0 >= 0x80 || $0 == UInt8(ascii: "%") }) else { return self }
        // Bytes that aren't UTF-8 leave an escape, or nothing.
        guard let name = self.host(percentEncoded: false), let ascii = InternationalName.ascii(name),
            var components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return nil }
        components.encodedHost = ascii
        return components.url
    }

    /// True if the host is in brackets, which are those of an IPv6 address (RFC 3986, section 3.2.2).
    private var hasBrackets: Bool {
        let text = absoluteString.utf8
        guard let start = text.firstIndex(of: UInt8(ascii: "/")) else { return false }
        return text[start...].dropFirst(2).prefix { !"/?#".utf8.contains($0) }.contains(UInt8(ascii: "["))
    }

    private static func isAddress(_ host: String) -> Bool {
        var address = in6_addr()
        // A zone follows the address (RFC 6874).
        return inet_pton(AF_INET6, String(host.prefix { $0 != "%" }), &address) == 1
    }

    /// The same in lowercase, so that all spellings of a host share its connections.
    package var withCanonicalHost: URL? {
        guard let url = withASCIIHost else { return nil }
        guard let host = url.host(percentEncoded: true), host != host.lowercased(), !host.contains(":"),
            var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return url }
        components.encodedHost = host.lowercased()
        return components.url
    }
}

/// Names of hosts with letters of any script (IDNA 2008).
package enum InternationalName {
    private typealias Conversion =
        @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, CInt) -> CInt
    private typealias Release = @convention(c) (UnsafeMutableRawPointer?) -> Void

    /// The functions of libidn2, which is found at run time, as the C library does for `AI_IDN`: its tables are large, and most programs
    /// never meet such a name.
    private static let library: (convert: Conversion, release: Release)? = {
        guard let library = dlopen("libidn2.so.0", RTLD_NOW | RTLD_LOCAL),
            let convert = dlsym(library, "idn2_to_ascii_8z"), let release = dlsym(library, "idn2_free")
        else { return nil }
        return (unsafeBitCast(convert, to: Conversion.self), unsafeBitCast(release, to: Release.self))
    }()

    /// `IDN2_NFC_INPUT` and `IDN2_NONTRANSITIONAL`: what browsers do (WHATWG URL, section 3.3), except that symbols are errors, as in IDNA 2008.
    private static let flags: CInt = 1 | 8
    /// `IDN2_NFC_INPUT` and `IDN2_TRANSITIONAL`: the same with symbols, but four characters become others or nothing.
    private static let symbolFlags: CInt = 1 | 4
    private static let deviations: Set<Unicode.Scalar> = ["ß", "ς", "\u{200C}", "\u{200D}"]
    /// `IDN2_DISALLOWED`
    private static let disallowed: CInt = -304
    /// More bytes than any name of 253 characters.
    private static let maximumBytes = 1_024
    /// The characters of `reg-name` (RFC 3986, section 3.2.2), except those of escapes.
    private static let legal = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=".utf8)

    /// Returns a name in ASCII and lowercase; `nil` if no host can have it, or the system has no libidn2.
    package static func ascii(_ name: String) -> String? {
        var result = name.lowercased()
        if !name.utf8.allSatisfy({ $0 < 0x80 }) {
            guard let library, name.utf8.count <= maximumBytes, !name.utf8.contains(0) else { return nil }
            var text: UnsafeMutablePointer<CChar>?
            var status = library.convert(name, &text, flags)
            if status == disallowed, !name.unicodeScalars.contains(where: deviations.contains) {
                status = library.convert(name, &text, symbolFlags)
            }
            guard status == 0, let text else { return nil }
            defer { library.release(text) }
            result = String(cString: text).lowercased()
        }
        return !result.isEmpty && result.utf8.allSatisfy(legal.contains) ? result : nil
    }
}
