package import TintypeImages

// The answers of a worker are checked in `WireRequest.validated(_:frameSize:)`.

extension ImageInfo: WireRecord {
    package static var blank: ImageInfo { ImageInfo(format: .png, size: .zero, hasAlpha: false) }

    package mutating func pass(_ parts: inout some WireParts) throws(WireSocket.Failure) {
        try parts.pass(&format)
        try parts.pass(&size)
        try parts.pass(&orientation)
        try parts.pass(&frameCount)
        try parts.pass(&pageCount)
        try parts.pass(&loopCount)
        try parts.pass(&frameDurations)
        try parts.pass(&hasAlpha)
        try parts.pass(&bitsPerComponent)
        try parts.pass(&isHighDynamicRange)
        try parts.pass(&gainMap)
        try parts.pass(&colorProfile)
        try parts.pass(&metadata)
        try parts.pass(&isComplete)
    }
}

extension ImageMetadata: WireRecord {
    package static var blank: ImageMetadata { ImageMetadata() }

    package mutating func pass(_ parts: inout some WireParts) throws(WireSocket.Failure) {
        try parts.pass(&exif)
        try parts.pass(&xmp)
        try parts.pass(&iptc)
        try parts.pass(&iptcDigest)
    }
}

extension ImageInfo.GainMap: WireRecord {
    package static var blank: ImageInfo.GainMap { ImageInfo.GainMap(size: .zero, components: 0) }

    package mutating func pass(_ parts: inout some WireParts) throws(WireSocket.Failure) {
        try parts.pass(&size)
        try parts.pass(&components)
    }
}

extension Image.Properties: WireRecord {
    package static var blank: Image.Properties { Image.Properties() }

    /// Passes all properties but the options that the image was decoded with, which the program knows.
    package mutating func pass(_ parts: inout some WireParts) throws(WireSocket.Failure) {
        try parts.pass(&format)
        try parts.pass(&scale)
        try parts.pass(&loopCount)
        var (name, profile) = (colorSpace.name, colorSpace.profile)
        try parts.pass(&name)
        try parts.pass(&profile)
        colorSpace = ColorSpace(name: name, profile: profile)
        try parts.pass(&bitsPerComponent)
        try parts.pass(&isHighDynamicRange)
        try parts.pass(&hasAlpha)
        try parts.pass(&sourceSize)
        try parts.pass(&sourceOrientation)
        try parts.pass(&metadata)
        try parts.pass(&isPartial)
        try parts.pass(&isTransformed)
        try parts.pass(&isVector)
    }
}

extension Orientation: WireValue {}
extension PixelFormat: WireValue {}
extension ImageFormat: WireValue {}

/// A decoded image, or a frame of an animation, without its pixels.
package struct WireImage: WireValue, Sendable {
    /// The size of each frame.
    package let size: PixelSize
    package let format: PixelFormat
    package let durations: [Duration]
    package private(set) var properties: Image.Properties
    /// The header of the animation whose first frame this is; `nil` for a still image.
    package private(set) var animation: ImageInfo?
    /// The memory layout of each frame.
    package let layout: PixelLayout

    package init?(_ frames: [ImageFrame], properties: Image.Properties, animation: ImageInfo? = nil) {
        guard let pixels = frames.first?.pixels else { return nil }
        self.init(pixels.size, pixels.format, durations: frames.map(\.duration), properties: properties)
        self.animation = animation
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
    func with(_ properties: Image.Properties, animation: ImageInfo?) -> WireImage {
        var image = self
        (image.properties, image.animation) = (properties, animation)
        return image
    }

    package func write(to writer: inout WireWriter) {
        writer.write(size)
        writer.write(format)
        writer.write(durations)
        writer.write(properties)
        // The image has the same metadata.
        var header = animation
        header?.metadata = ImageMetadata()
        writer.write(header)
    }

    package init(from reader: inout WireReader) throws(WireSocket.Failure) {
        size = try reader.read()
        format = try reader.read()
        guard let layout = PixelLayout(size: size, format: format) else { throw .garbage }
        self.layout = layout
        durations = try reader.read()
        properties = try reader.read()
        animation = try reader.read()
        animation?.metadata = properties.metadata
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
