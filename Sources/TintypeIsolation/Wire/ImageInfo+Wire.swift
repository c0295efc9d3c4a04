package import TintypeImages

// The order of reading is that of writing. What a worker writes is checked in `WireRequest.validated(_:frameSize:)`.

extension ImageInfo: WireValue {
    package func write(to writer: inout WireWriter) {
        writer.write(format)
        writer.write(size)
        writer.write(orientation.rawValue)
        writer.write(frameCount)
        writer.write(pageCount)
        writer.write(loopCount)
        writer.write(frameDurations)
        writer.write(hasAlpha)
        writer.write(bitsPerComponent)
        writer.write(isHighDynamicRange)
        writer.write(gainMap?.size)
        writer.write(gainMap?.components)
        writer.write(colorProfile)
        writer.write(isComplete)
    }

    package init(from reader: inout WireReader) throws(WireSocket.Failure) {
        let format: ImageFormat = try reader.read()
        let size: PixelSize = try reader.read()
        self.init(format: format, size: size, hasAlpha: false)
        orientation = try reader.readOrientation()
        frameCount = try reader.read()
        pageCount = try reader.read()
        loopCount = try reader.read()
        frameDurations = try reader.read()
        hasAlpha = try reader.read()
        bitsPerComponent = try reader.read()
        isHighDynamicRange = try reader.read()
        let gainMapSize: PixelSize? = try reader.read()
        let gainMapComponents: Int? = try reader.read()
        if let gainMapSize, let gainMapComponents {
            gainMap = GainMap(size: gainMapSize, components: gainMapComponents)
        }
        colorProfile = try reader.read()
        isComplete = try reader.read()
    }
}

extension Image.Properties: WireValue {
    /// Writes all properties but the options that the image was decoded with, which the program knows.
    package func write(to writer: inout WireWriter) {
        writer.write(format)
        writer.write(scale)
        writer.write(loopCount)
        writer.write(colorSpace.name)
        writer.write(colorSpace.profile)
        writer.write(bitsPerComponent)
        writer.write(isHighDynamicRange)
        writer.write(hasAlpha)
        writer.write(sourceSize)
        writer.write(sourceOrientation.rawValue)
        writer.write(metadata.exif)
        writer.write(metadata.xmp)
        writer.write(isPartial)
        writer.write(isTransformed)
        writer.write(isVector)
    }

    package init(from reader: inout WireReader) throws(WireSocket.Failure) {
        self.init()
        format = try reader.read()
        scale = try reader.read()
        loopCount = try reader.read()
        colorSpace = ColorSpace(name: try reader.read(), profile: try reader.read())
        bitsPerComponent = try reader.read()
        isHighDynamicRange = try reader.read()
        hasAlpha = try reader.read()
        sourceSize = try reader.read()
        sourceOrientation = try reader.readOrientation()
        metadata = ImageMetadata(exif: try reader.read(), xmp: try reader.read())
        isPartial = try reader.read()
        isTransformed = try reader.read()
        isVector = try reader.read()
    }
}

/// A decoded image, or a frame of an animation, without its pixels.
package struct WireImage: WireValue, Sendable {
    /// The size of each frame.
    package let size: PixelSize
    package let format: PixelFormat
    package let durations: [Duration]
    package private(set) var properties: Image.Properties
    /// The memory layout of each frame.
    package let layout: PixelLayout

    package init?(_ frames: [ImageFrame], properties: Image.Properties) {
        guard let pixels = frames.first?.pixels else { return nil }
        self.init(pixels.size, pixels.format, durations: frames.map(\.duration), properties: properties)
    }

    /// Describes an image whose pixels may not exist. Returns `nil` for a size that no memory has.
    package init?(_ size: PixelSize, _ format: PixelFormat, durations: [Duration], properties: Image.Properties) {
        guard let layout = PixelLayout(size: size, format: format) else { return nil }
        self.size = size
        self.format = format
        self.durations = durations
        self.properties = properties
        self.layout = layout
    }

    /// Returns a description with other properties.
    func with(_ properties: Image.Properties) -> WireImage {
        var image = self
        image.properties = properties
        return image
    }

    package func write(to writer: inout WireWriter) {
        writer.write(size)
        writer.write(format.rawValue)
        writer.write(durations)
        writer.write(properties)
    }

    package init(from reader: inout WireReader) throws(WireSocket.Failure) {
        size = try reader.read()
        guard let format = PixelFormat(rawValue: try reader.read()),
            let layout = PixelLayout(size: size, format: format)
        else { throw .garbage }
        self.format = format
        self.layout = layout
        durations = try reader.read()
        properties = try reader.read()
        guard !durations.isEmpty else { throw .garbage }
    }

    /// The distance of two frames in shared memory: whole pages, so that each can be mapped by itself.
    package var frameStride: Int { (layout.byteCount + 4_095) & ~4_095 }

    /// The bytes of all frames in shared memory; `nil` if no memory has so many.
    package var byteCount: Int? {
        let (bytes, overflow) = frameStride.multipliedReportingOverflow(by: durations.count)
        return overflow || bytes >= 1 << 46 ? nil : bytes
    }
}

extension ImageError: WireValue {
    /// The longest text that a person reads.
    private static let maximumReason = 2_000

    /// Writes the code, the stage and the reason. A decoder knows no more.
    package func write(to writer: inout WireWriter) {
        writer.write(code.rawValue)
        writer.write(stage.rawValue)
        writer.write(String(reason.prefix(Self.maximumReason)))
    }

    package init(from reader: inout WireReader) throws(WireSocket.Failure) {
        let code: String = try reader.read()
        let stage: String = try reader.read()
        let reason: String = try reader.read()
        self.init(
            Code(rawValue: String(code.prefix(100))), stage: Stage(rawValue: stage) ?? .decode,
            reason: String(reason.prefix(Self.maximumReason)))
    }
}

extension WireReader {
    fileprivate mutating func readOrientation() throws(WireSocket.Failure) -> Orientation {
        guard let orientation = Orientation(rawValue: try read(Int.self)) else { throw .garbage }
        return orientation
    }
}
