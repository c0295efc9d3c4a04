package import TintypeLoading

/// The file name of an image. A download is named after the last component of its URL, made safe.
///
/// The component is percent-decoded. The name of a download has no separators and no control characters, is not hidden, not `..`,
/// and not empty, can't be taken for an option, and is not longer than file systems allow. It has no characters that Windows
/// reserves either, so that a folder of images can be copied anywhere.
package struct FileName: Hashable, Sendable {
    /// The name without its extension.
    package var stem: String
    /// The extension without the dot; empty for none.
    package var fileExtension: String

    /// The longest stem, in bytes. File systems allow 255, with a number and an extension.
    package static let longestStem = 200
    package static let longestExtension = 10

    /// Creates the name for an image at a URL.
    package init(url: String) {
        self.init(proposed: Self.lastComponent(of: url))
    }

    /// Creates a safe name that is as close as possible to a proposed name.
    package init(proposed: String) {
        let name = Self.safe(proposed)
        if let dot = name.lastIndex(of: "."), dot != name.startIndex {
            let ending = String(name[name.index(after: dot)...])
            if !ending.isEmpty, ending.utf8.count <= Self.longestExtension,
                ending.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
            {
                stem = Self.shortened(Self.trimmed(String(name[..<dot])))
                fileExtension = ending
                if stem.isEmpty { stem = "image" }
                return
            }
        }
        stem = Self.shortened(name)
        fileExtension = ""
        if stem.isEmpty { stem = "image" }
    }

    /// Creates the name of a file of the user's, which stays as it is.
    package init(ofFile path: String) {
        let name = path.unicodeScalars.split(separator: "/").last.map { String($0) } ?? ""
        let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 }
        stem = String(name[..<(dot ?? name.endIndex)])
        fileExtension = dot.map { String(name[name.index(after: $0)...]) } ?? ""
    }

    /// Gives the name an extension of a format, unless it has one.
    ///
    /// An unknown extension stays in the name: `v1.2` becomes `v1.2.png`.
    /// - Returns: true if the name is another now.
    @discardableResult
    package mutating func adopt(_ format: ImageFormat) -> Bool {
        let old = ImageFormat(fileExtension: fileExtension)
        guard old != format else { return false }
        if old == nil, !fileExtension.isEmpty { stem += ".\(fileExtension)" }
        fileExtension = format.fileExtension
        return true
    }

    /// Returns the complete name. With a number above 1 it is `photo-2.jpg`.
    package func name(number: Int = 1) -> String {
        (number > 1 ? "\(stem)-\(number)" : stem) + (fileExtension.isEmpty ? "" : ".\(fileExtension)")
    }

    private static func lastComponent(of url: String) -> String {
        if url.prefix(5).lowercased() == "data:" { return "" }
        var path = url[...]
        if let scheme = path.firstRange(of: "://") {
            // The path follows the host.
            path = path[scheme.upperBound...]
            path = path.prefix { $0 != "?" && $0 != "#" }
            guard let slash = path.firstIndex(of: "/") else { return "" }
            path = path[slash...]
        } else {
            path = path.prefix { $0 != "?" && $0 != "#" }
        }
        while path.last == "/" { path.removeLast() }
        let component = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path
        return String(decoding: DataURL.percentDecoded(Array(component.utf8)[...]), as: UTF8.self)
    }

    private static func safe(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0, 0x200B...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: continue
            default: result.append("/\\:*?\"<>|".unicodeScalars.contains(scalar) ? "_" : scalar)
            }
        }
        return trimmed(String(result))
    }

    /// Removes leading dots, dashes (which commands take for options), spaces, and combining marks, and trailing dots and spaces.
    ///
    /// Scalars are looked at rather than characters: a dash with a combining mark is another character, but the file system and
    /// other commands see a dash.
    private static func trimmed(_ text: String) -> String {
        var scalars = text.unicodeScalars[...].drop { scalar in
            ".-~ ".unicodeScalars.contains(scalar) || scalar.properties.isWhitespace || isCombining(scalar)
        }
        while let last = scalars.last, last == "." || last.properties.isWhitespace { scalars.removeLast() }
        return String(String.UnicodeScalarView(scalars))
    }

    private static func isCombining(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .format: true
        default: false
        }
    }

    private static func shortened(_ text: String) -> String {
        guard text.utf8.count > longestStem else { return text }
        var text = text
        while text.utf8.count > longestStem { text.removeLast() }
        return trimmed(text)
    }
}
