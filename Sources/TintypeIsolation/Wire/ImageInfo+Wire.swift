package import TintypeImages

// The order of reading is that of writing. What a worker writes is checked while it is read.

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
            guard gainMapSize.isPossible, gainMapComponents == 1 || gainMapComponents == 3 else { throw .garbage }
            gainMap = GainMap(size: gainMapSize, components: gainMapComponents)
        }
        colorProfile = try reader.read()
        isComplete = try reader.read()
        guard size.isPossible, frameCount >= 1, pageCount >= 0, loopCount ?? 0 >= 0, frameDurations.count <= frameCount,
            (1...64).contains(bitsPerComponent)
        else { throw .garbage }
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
        guard scale >= 1, scale.isFinite, loopCount >= 0, (1...64).contains(bitsPerComponent),
            sourceSize?.isPossible ?? true
        else { throw .garbage }
    }
}

/// A decoded image, or a frame of an animation, without its pixels.
package struct WireImage: WireValue, Sendable {
    /// The size of each frame.
    package let size: PixelSize
    package let format: PixelFormat
    package let durations: [Duration]
    package let properties: Image.Properties
    /// The memory layout of each frame.
    package let layout: PixelLayout

    package init?(_ frames: [ImageFrame], properties: Image.Properties) {
        guard let pixels = frames.first?.pixels, let layout = PixelLayout(size: pixels.size, format: pixels.format)
        else {
            return nil
        }
        size = pixels.size
        format = pixels.format
        durations = frames.map(\.duration)
        self.properties = properties
        self.layout = layout
    }

    package func write(to writer: inout WireWriter) {
        writer.write(size)
        writer.write(format.rawValue)
        writer.write(durations)
        writer.write(properties)
    }

    package init(from reader: inout WireReader) throws(WireSocket.Failure) {
        size = try reader.read()
        guard let format = PixelFormat(rawValue: try reader.read()), size.isPossible,
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

extension PixelSize {
    /// True for sides that an image may have.
    fileprivate var isPossible: Bool { !isEmpty && width < 1 << 32 && height < 1 << 32 }
}
