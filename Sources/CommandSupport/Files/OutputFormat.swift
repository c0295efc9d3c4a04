internal import ArgumentParser
package import Tintype

/// The formats that can be written.
package enum OutputFormat {
    package static var encodable: Set<ImageFormat> { ImageCoders.default.encodableFormats }

    /// Returns the format with a name such as `webp` or an extension such as `jpg`.
    /// - Throws: a validation error that lists the formats that can be written.
    package static func named(_ name: String) throws -> ImageFormat {
        let format = ImageFormat(fileExtension: name) ?? ImageFormat.known.first { $0.rawValue == name.lowercased() }
        guard let format else { throw refusal("“\(name)” isn't a known image format") }
        guard encodable.contains(format) else { throw refusal("\(format) can't be written") }
        return format
    }

    /// Returns the format that the extension of a file selects.
    /// - Throws: a validation error if there is none that can be written.
    package static func ofFile(_ path: String) throws -> ImageFormat {
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else {
            throw ValidationError("“\(path)” has no extension that selects the format, as in photo.png")
        }
        return try named(String(name[name.index(after: dot)...]))
    }

    /// Returns the default format for an image: its own if that can be written without losing transparency.
    package static func natural(for image: Image) -> ImageFormat {
        let writable = encodable
        if let format = image.format, writable.contains(format), format.storesAlpha || !image.hasAlpha { return format }
        if image.isAnimated, writable.contains(.webp) { return .webp }
        return image.hasAlpha || !writable.contains(.jpeg) ? .png : .jpeg
    }

    /// Returns true if a file of the format can hold an animation.
    package static func storesFrames(_ format: ImageFormat) -> Bool {
        [.gif, .webp, .png, .avif, .jxl].contains(format)
    }

    private static func refusal(_ problem: String) -> ValidationError {
        let names = encodable.map(\.rawValue).sorted().joined(separator: ", ")
        return ValidationError("\(problem); supported formats: \(names)")
    }
}
