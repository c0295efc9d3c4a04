internal import ArgumentParser
internal import Tintype

/// Which formats can be written, and what to say where one cannot.
enum OutputFormat {
    static var encodable: Set<ImageFormat> { ImageCoders.default.encodableFormats }

    /// The format with a name such as `webp`, or a file name's ending such as `jpg`.
    /// - Throws: a validation error that names the formats that can be written.
    static func named(_ name: String) throws -> ImageFormat {
        let format = ImageFormat(fileExtension: name) ?? ImageFormat.known.first { $0.rawValue == name.lowercased() }
        guard let format else { throw refusal("'\(name)' is no image format that is known") }
        guard encodable.contains(format) else { throw refusal("\(format) cannot be written") }
        return format
    }

    /// What a picture is saved as where nobody chose: its own format if that can be written with all it has.
    static func natural(for image: Image) -> ImageFormat {
        let writable = encodable
        if let format = image.format, writable.contains(format), format.storesAlpha || !image.hasAlpha { return format }
        if image.isAnimated, writable.contains(.webp) { return .webp }
        return image.hasAlpha || !writable.contains(.jpeg) ? .png : .jpeg
    }

    /// Whether a file of the format can hold an animation.
    static func storesFrames(_ format: ImageFormat) -> Bool { [.gif, .webp, .png, .avif, .jxl].contains(format) }

    private static func refusal(_ problem: String) -> ValidationError {
        let names = encodable.map(\.rawValue).sorted().joined(separator: ", ")
        return ValidationError("\(problem); formats that can be: \(names)")
    }
}
