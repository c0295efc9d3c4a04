package import TintypeImages

// The order of reading is that of writing.

extension PixelSize: WireValue {
    package func write(to writer: inout WireWriter) {
        writer.write(width)
        writer.write(height)
    }

    package init(from reader: inout WireReader) throws(WireSocket.Failure) {
        self.init(width: try reader.read(), height: try reader.read())
    }
}

extension ImageFormat: WireValue {
    package func write(to writer: inout WireWriter) { writer.write(rawValue) }
    package init(from reader: inout WireReader) throws(WireSocket.Failure) { self.init(rawValue: try reader.read()) }
}

extension DecodeOptions: WireValue {
    /// Writes all options but the settings of single formats.
    package func write(to writer: inout WireWriter) {
        writer.write(thumbnailSize)
        writer.write(preservesAspectRatio)
        writer.write(coversThumbnailSize)
        writer.write(allowsUpscaling)
        writer.write(thumbnailQuality == .fast)
        writer.write(maximumBytes?.bytes)
        writer.write(page)
        writer.write(firstFrameOnly)
        writer.write(scale)
        writer.write(allowsPartialImage)
        writer.write(keepsColorSpace)
        writer.write(decodeToHDR)
        writer.write(formatHint)
    }

    package init(from reader: inout WireReader) throws(WireSocket.Failure) {
        self.init()
        thumbnailSize = try reader.read()
        preservesAspectRatio = try reader.read()
        coversThumbnailSize = try reader.read()
        allowsUpscaling = try reader.read()
        thumbnailQuality = try reader.read(Bool.self) ? .fast : .high
        maximumBytes = try reader.read(Int?.self).map { ByteCount($0) }
        page = try reader.read()
        firstFrameOnly = try reader.read()
        scale = try reader.read()
        allowsPartialImage = try reader.read()
        keepsColorSpace = try reader.read()
        decodeToHDR = try reader.read()
        formatHint = try reader.read()
    }
}

extension DecodeLimits: WireValue {
    package func write(to writer: inout WireWriter) {
        writer.write(maximumPixels)
        writer.write(maximumBytes.bytes)
        writer.write(maximumFrames)
        writer.write(maximumSide)
        writer.write(maximumAnimationPixels)
    }

    package init(from reader: inout WireReader) throws(WireSocket.Failure) {
        self.init()
        maximumPixels = try reader.read()
        maximumBytes = ByteCount(try reader.read(Int.self))
        maximumFrames = try reader.read()
        maximumSide = try reader.read()
        maximumAnimationPixels = try reader.read()
    }
}
