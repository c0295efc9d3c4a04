extension DecodeOptions {
    /// Returns the options, completed from a name and a media type: the format of a camera file, and the scale of `@2x`.
    package func completed(fileName: String, mimeType: String? = nil) -> DecodeOptions {
        var options = self
        if formatHint == nil { options.formatHint = ImageFormat.hint(fileName: fileName, mimeType: mimeType) }
        let namedScale = Image.scale(ofName: fileName)
        // An image that a loader made may have a scale of its own, which a name without any leaves as it is.
        if scale == nil, namedScale != 1 { options.scale = namedScale }
        return options
    }

    /// The options for decoding a whole animation whose first frame is the image that these options request; `nil` if they
    /// request more than the first frame, or if the frames of the whole animation can differ from a frame that is decoded
    /// alone.
    package var ofWholeAnimation: DecodeOptions? {
        // With a limit of bytes, all frames share the room, and single frames may have more bits.
        guard firstFrameOnly, maximumBytes == nil, !decodeToHDR else { return nil }
        var options = self
        options.firstFrameOnly = false
        return options
    }
}
