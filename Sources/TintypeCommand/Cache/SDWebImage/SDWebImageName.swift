internal import FoundationEssentials
internal import TintypeCaching

/// The names of the files in SDWebImage's disk cache: the MD5 of the key, since 4.0 with the key's extension.
enum SDWebImageName {
    /// Returns the name that SDWebImage 4 and later give the file of a key: 32 lowercase hexadecimal digits, and the extension, if
    /// a file name has room for it.
    static func fileName(forKey key: String) -> String {
        let name = legacyFileName(forKey: key)
        let suffix = pathExtension(ofKey: key)
        return suffix.isEmpty || suffix.utf16.count > longestExtension ? name : "\(name).\(suffix)"
    }

    /// Returns the key under which SDWebImage stores an image that a transformer made: the key of the transformer stands before the extension of the
    /// path, or at the end of a key without one.
    ///
    /// In a URL, SDWebImage takes the path without escapes, and escapes the new one: `{` becomes `%7B`, and `%2F` a slash.
    static func key(_ key: String, transformedBy transformer: String) -> String {
        guard !pathExtension(ofKey: key).isEmpty else { return "\(key)-\(transformer)" }
        guard isURL(key), !key.lowercased().hasPrefix("file:"), var parts = URLComponents(string: key) else {
            return inserting(transformer, in: key)
        }
        parts.path = inserting(transformer, in: parts.path)
        return parts.string ?? key
    }

    private static func inserting(_ transformer: String, in path: String) -> String {
        // Slashes at the end don't count.
        var path = path[...]
        while path.count > 1, path.last == "/" { path.removeLast() }
        guard let dot = path.lastIndex(of: ".") else { return "\(path)-\(transformer)" }
        return "\(path[..<dot])-\(transformer)\(path[dot...])"
    }

    /// Returns the name that SDWebImage 3 gives the file of a key: 32 lowercase hexadecimal digits.
    static func legacyFileName(forKey key: String) -> String {
        // It takes the key for a C string, which ends with the first NUL.
        MD5.hexadecimal(key.utf8.prefix { $0 != 0 })
    }

    /// The digest in a file name of either kind; `nil` for files of others.
    static func digest(ofFileName name: String) -> String? {
        let digest = name.utf8.prefix(32)
        guard digest.count == 32, digest.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }),
            name.utf8.count == 32 || (name.utf8.dropFirst(32).first == UInt8(ascii: ".") && name.utf8.count > 33)
        else { return nil }
        return String(decoding: digest, as: UTF8.self)
    }

    /// `NAME_MAX` is 255; the digest and a dot take 33.
    private static let longestExtension = 255 - 33

    /// The extension of the last part of the path, of a URL without its query, and else of the whole key.
    private static func pathExtension(ofKey key: String) -> String {
        let path = path(ofKey: key)
        return trimmed(pathExtension(of: isURL(key) ? unescaped(path) : key))
    }

    private static func isURL(_ key: String) -> Bool { key.utf8.allSatisfy(isAllowedInURL) }

    /// The path of a URL; the whole of another key.
    private static func path(ofKey key: String) -> Substring {
        guard isURL(key) else { return key[...] }
        let path = key.prefix { $0 != "?" && $0 != "#" }
        // A host is no path: `http://example.org` has no extension.
        return path.firstRange(of: "://").map { path[$0.upperBound...].drop { $0 != "/" } } ?? path
    }

    private static func pathExtension(of path: String) -> String {
        // A slash at the end does not count.
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "" }
        return String(name[name.index(after: dot)...])
    }

    /// Without characters that file names can't have, or that separate folders on Apple's systems.
    private static func trimmed(_ suffix: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in suffix.unicodeScalars where scalar.value != 0 && scalar != ":" && scalar != "/" {
            scalars.append(scalar)
        }
        return String(scalars)
    }

    /// The path with its `%6E` resolved; unchanged if an escape is invalid, or the result isn't text.
    private static func unescaped(_ path: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = path.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else { return String(path) }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self) ?? String(path)
    }

    /// RFC 3986, appendix A.
    private static func isAllowedInURL(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~:/?#[]@!$&'()*+,;=%".utf8.contains(byte)
        }
    }
}
