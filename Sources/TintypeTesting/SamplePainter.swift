internal import FoundationEssentials
internal import Tintype
internal import TintypeLoading

/// Encodes drawings as files.
struct SamplePainter {
    let scale: Double
    private let coders = ImageCoders.default

    init(scale: Double) { self.scale = scale }

    private func size(_ width: Int, _ height: Int) -> PixelSize {
        PixelSize(width: max(16, Int(Double(width) * scale)), height: max(16, Int(Double(height) * scale)))
    }

    /// - Parameter enlarging: the factor of enlargement of a smaller drawing, because drawing is slower than resampling.
    func scene(
        _ scene: SampleScene, _ width: Int, _ height: Int, _ name: String, _ format: ImageFormat, enlarging: Int = 1,
        _ change: (inout EncodeOptions) -> Void = { _ in }
    ) throws(ImageError) -> SampleImage {
        let size = size(width, height)
        let drawn = PixelSize(width: size.width / enlarging, height: size.height / enlarging)
        let pixels = try scene.draw(drawn).resized(to: size)
        return try file(Image(pixels: pixels).with { $0.hasAlpha = false }, name, format, change)
    }

    func still(
        _ width: Int, _ height: Int, _ name: String, _ format: ImageFormat, isOpaque: Bool = false,
        draw: (PixelSize) throws(ImageError) -> PixelBuffer, _ change: (inout EncodeOptions) -> Void = { _ in }
    ) throws(ImageError) -> SampleImage {
        let image = Image(pixels: try draw(size(width, height))).with { $0.hasAlpha = !isOpaque }
        return try file(image, name, format, change)
    }

    func animation(
        _ side: Int, frames count: Int, _ name: String, _ format: ImageFormat, isOpaque: Bool = false,
        draw: (PixelSize, Float) throws(ImageError) -> PixelBuffer
    ) throws(ImageError) -> SampleImage {
        var frames: [ImageFrame] = []
        for index in 0..<count {
            let pixels = try draw(size(side, side), Float(index) / Float(count))
            frames.append(ImageFrame(pixels: pixels, duration: .milliseconds(80)))
        }
        guard let image = Image(frames: frames) else {
            throw ImageError(.encodeFailed, stage: .encode, source: name, reason: "the animation has no frames")
        }
        return try file(image.with { $0.hasAlpha = !isOpaque }, name, format)
    }

    /// Returns a JPEG with rotated pixels and the Exif tag that rotates them back.
    func oriented(_ orientation: Orientation, _ name: String) throws(ImageError) -> SampleImage {
        // Rotations left and right are inverse; every other orientation is its own inverse.
        let inverse: Orientation = orientation == .right ? .left : orientation == .left ? .right : orientation
        let upright = try SampleShapes.arrow(size(600, 450))
        let stored = Image(pixels: try upright.oriented(inverse)).with { $0.hasAlpha = false }
        var sample = try file(stored, name, .jpeg)
        sample.data.insert(contentsOf: Self.exif(orientation), at: 2)
        sample.size = upright.size
        return sample
    }

    /// Returns an Exif segment that contains only the orientation (Exif 2.32, 4.5 and 4.6.4).
    private static func exif(_ orientation: Orientation) -> [UInt8] {
        let tiff: [UInt8] =
            Array("MM".utf8) + [0, 42, 0, 0, 0, 8]  // big-endian, the first directory follows
            + [0, 1]  // 1 entry
            + [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation.rawValue), 0, 0]  // orientation, 1 short
            + [0, 0, 0, 0]  // no further directory
        let contents = Array("Exif\0\0".utf8) + tiff
        return [0xFF, 0xE1, 0, UInt8(contents.count + 2)] + contents
    }

    /// Returns an icon with two sizes; most programs show the larger.
    func icon(_ name: String) throws(ImageError) -> SampleImage {
        var pictures: [(side: Int, data: Data)] = []
        for side in [64, 256] {
            let image = Image(pixels: try SampleShapes.icon(PixelSize(width: side, height: side)))
            pictures.append((side, try coders.encode(image, as: .png, options: EncodeOptions())))
        }
        func little(_ value: Int) -> [UInt8] { SamplePNG.bigEndian(value).reversed() }
        var file = Data([0, 0, 1, 0, UInt8(pictures.count), 0])
        var offset = 6 + 16 * pictures.count
        for (side, data) in pictures {
            // A side of 256 is stored as 0.
            file.append(contentsOf: [UInt8(side & 255), UInt8(side & 255), 0, 0, 1, 0, 32, 0])
            file.append(contentsOf: little(data.count) + little(offset))
            offset += data.count
        }
        for (_, data) in pictures { file.append(data) }
        return SampleImage(name: name, data: file, format: .ico, size: PixelSize(width: 256, height: 256))
    }

    func gray(_ name: String) throws(ImageError) -> SampleImage {
        let size = size(480, 360)
        let pixels = try SampleScene.dunes.draw(size)
        let data = SamplePNG.file(size, depth: 8, color: .gray) { y in
            (0..<size.width).map { x -> UInt8 in
                // ITU-R BT.601.
                let weighted = SIMD4<Int>(truncatingIfNeeded: pixels[x, y]) &* SIMD4(299, 587, 114, 0)
                return UInt8(weighted.wrappedSum() / 1_000)
            }
        }
        return SampleImage(name: name, data: data, format: .png, size: size)
    }

    /// Returns an image with four bits per pixel, for sixteen colors.
    func palette(_ name: String) throws(ImageError) -> SampleImage {
        var size = size(480, 360)
        size.width &= ~1
        let colors = (0..<16).flatMap { index -> [UInt8] in
            let dark: UInt8 = index < 8 ? 20 : 70
            let light: UInt8 = index < 8 ? 150 : 245
            return [4, 2, 1].map { index & $0 == 0 ? dark : light }
        }
        let data = SamplePNG.file(size, depth: 4, color: .palette, palette: colors) { y in
            let row = y * 12 / size.height * 5
            func index(_ x: Int) -> UInt8 { UInt8((x * 16 / size.width + row) & 15) }
            return stride(from: 0, to: size.width, by: 2).map { index($0) << 4 | index($0 + 1) }
        }
        return SampleImage(name: name, data: data, format: .png, size: size)
    }

    func sixteenBits(_ name: String) -> SampleImage {
        let size = size(480, 360)
        let data = SamplePNG.file(size, depth: 16, color: .rgb) { y in
            var row: [UInt8] = []
            let down = 65_535 * y / size.height
            for x in 0..<size.width {
                let across = 65_535 * x / size.width
                for level in [across, (across + down) / 2, 65_535 - down] {
                    row += [UInt8(level >> 8), UInt8(level & 255)]
                }
            }
            return row
        }
        return SampleImage(name: name, data: data, format: .png, size: size)
    }

    private func file(
        _ image: Image, _ name: String, _ format: ImageFormat, _ change: (inout EncodeOptions) -> Void = { _ in }
    ) throws(ImageError) -> SampleImage {
        var options = EncodeOptions()
        change(&options)
        do throws(ImageError) {
            let data = try coders.encode(image, as: format, options: options)
            return SampleImage(
                name: name, data: data, format: format, size: image.size, frameCount: image.animation?.frameCount ?? 1)
        } catch {
            throw error.withSource(name)
        }
    }
}
