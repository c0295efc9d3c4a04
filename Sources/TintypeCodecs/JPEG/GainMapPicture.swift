internal import Glibc
internal import TintypeImages

/// A gain map that is made for an image of high dynamic range and the same image in standard range: one number for each pixel, because tone mapping
/// scales the three components alike.
struct GainMapPicture {
    /// Grays, at half the size of the image.
    let pixels: PixelBuffer
    let parameters: GainMapParameters

    private static let offset = 1.0 / 64
    /// The shares of red, green and blue in luminance (BT.709).
    private static let luminance = SIMD4<Float>(0.2126, 0.7152, 0.0722, 0)
    /// The least headroom above white that needs a map.
    private static let leastHeadroom = 0.05

    /// - Parameters:
    ///   - image: the image in extended sRGB.
    ///   - base: the same image in sRGB, at the size that is written.
    /// - Returns: `nil` for an image that isn't of high dynamic range or isn't opaque, and for one that is nowhere brighter than white.
    init?(of image: Image, for base: Image, context: ProcessingContext) throws(ImageError) {
        guard image.isHighDynamicRange, image.pixels.format == .rgbaFloat16, base.pixels.format == .rgba8,
            !image.hasAlpha || Self.isOpaque(image.pixels)
        else { return nil }
        let bright = try image.pixels.resized(to: base.size)
        let (width, height) = (base.size.width, base.size.height)
        guard
            let memory = ScratchBytes(
                base.size.pixelCount * MemoryLayout<Float>.stride, cleared: false, pool: .shared)
        else {
            throw ImageError(.outOfMemory, stage: .encode, reason: "there isn't enough memory for a gain map")
        }
        let gains = memory.base.assumingMemoryBound(to: Float.self)
        var (least, most, peak) = (Float.infinity, -Float.infinity, Float(1))
        for y in 0..<height {
            if y % 64 == 0 { try context.checkCancellation() }
            bright.withRow(y) { bright in
                base.pixels.withRow(y) { base in
                    Self.writeGains(of: bright, over: base, to: gains + y * width, count: width, peak: &peak)
                }
            }
            for x in y * width..<(y + 1) * width { (least, most) = (min(least, gains[x]), max(most, gains[x])) }
        }
        let headroom = Double(log2f(peak))
        guard headroom >= Self.leastHeadroom,
            let parameters = GainMapParameters(
                baseHeadroom: 0, alternateHeadroom: headroom, usesBaseColorSpace: true,
                channels: [
                    GainMapParameters.Channel(
                        minimum: Double(least), maximum: Double(max(most, least + 0.01)), gamma: 1,
                        baseOffset: Self.offset, alternateOffset: Self.offset)
                ])
        else { return nil }
        let map = try MutablePixelBuffer(size: base.size, cleared: false)
        let scale = 255 / Float(parameters.channels[0].maximum - parameters.channels[0].minimum)
        for y in 0..<height {
            let row = map.row(y)
            for x in 0..<width {
                let level = UInt8(min(max((gains[y * width + x] - least) * scale + 0.5, 0), 255))
                row.storeBytes(of: SIMD4(level, level, level, 255), toByteOffset: x * 4, as: SIMD4<UInt8>.self)
            }
        }
        withExtendedLifetime(memory) {}
        self.parameters = parameters
        pixels = try map.freeze().resized(
            to: PixelSize(width: (width + 1) / 2, height: (height + 1) / 2))
    }

    /// Returns true if nothing shines through half-precision pixels, whatever the image says of its alpha.
    private static func isOpaque(_ pixels: PixelBuffer) -> Bool {
        // The bits of 1 in half precision.
        let one: UInt16 = 0x3C00
        return (0..<pixels.height).allSatisfy { y in
            pixels.withRow(y) { row in
                (0..<pixels.width).allSatisfy { row.load(fromByteOffset: $0 * 8 + 6, as: UInt16.self) == one }
            }
        }
    }

    /// Writes the binary logarithms by which the light of a row grows.
    private static func writeGains(
        of bright: UnsafeRawBufferPointer, over base: UnsafeRawBufferPointer, to gains: UnsafeMutablePointer<Float>,
        count: Int, peak: inout Float
    ) {
        let curve = SRGBCurve.light
        func brightness(_ light: SIMD4<Float>) -> Float { max(0, (light * luminance).sum()) + Float(offset) }
        withUnsafeTemporaryAllocation(of: Float.self, capacity: count * 4) { floats in
            guard let source = bright.baseAddress, let numbers = floats.baseAddress else { return }
            HalfFloat.unpack(source, to: numbers, count: count * 4)
            for x in 0..<count {
                let light = SIMD4(
                    curve.mirrored(numbers[x * 4]), curve.mirrored(numbers[x * 4 + 1]),
                    curve.mirrored(numbers[x * 4 + 2]), 0)
                let dim = SIMD4(
                    curve.value(Float(base[x * 4]) / 255), curve.value(Float(base[x * 4 + 1]) / 255),
                    curve.value(Float(base[x * 4 + 2]) / 255), 0)
                peak = max(peak, light.max())
                gains[x] = log2f(brightness(light) / brightness(dim))
            }
        }
    }
}
