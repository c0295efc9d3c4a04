/// What names say of images.
enum FileName {
    /// The last part of a path or a URL, without query and fragment.
    static func last(of path: String) -> String {
        let end = path.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? path.endIndex
        let start = path[..<end].utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) }
        return String(path[(start ?? path.startIndex)..<end])
    }
}

extension DecodeOptions {
    /// The options, with what a name and a media type say where the options say nothing: a camera file's ending or type, and
    /// the scale of `@2x`.
    package func completed(fileName: String, mimeType: String? = nil) -> DecodeOptions {
        var options = self
        if formatHint == nil { options.formatHint = ImageFormat.hint(fileName: fileName, mimeType: mimeType) }
        if scale == 1 { options.scale = Image.scale(ofName: fileName) }
        return options
    }

    /// The options under which an animation is decoded whose first frame is just what these ask for; `nil` if they ask for more
    /// than a first frame, or if the frames of the whole animation may be other than one that is decoded alone.
    var ofWholeAnimation: DecodeOptions? {
        // Under a limit of bytes all frames share the room; and single frames may have more bits.
        guard firstFrameOnly, maximumBytes == nil, !decodeToHDR else { return nil }
        var options = self
        options.firstFrameOnly = false
        return options
    }
}
