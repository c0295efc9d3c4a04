internal import CGIF
internal import FoundationEssentials
internal import TintypeCore

/// Writes a GIF with giflib: each frame with its own colours, and only where it differs from the one before.
struct GIFEncoder {
    static let maximumSide = 65_535

    let source: FramesToEncode
    let maximumBytes: Int?

    /// The file; with fewer colours where it would be over the limit of bytes.
    func encode() throws(ImageError) -> Data {
        var smallest = Int.max
        for colors in [256, 128, 64, 32, 16, 8, 4, 2] {
            let data = try file(colors: colors)
            guard let maximumBytes, data.count > maximumBytes else { return data }
            smallest = data.count
        }
        throw ImageError(
            .encodeFailed, stage: .encode,
            reason: "the GIF takes \(smallest) bytes with 2 colours, over the limit of \(maximumBytes ?? 0)")
    }

    private func file(colors: Int) throws(ImageError) -> Data {
        let writer = try GIFWriter(size: source.size)
        if source.frames.count > 1, source.loopCount != 1 { try writer.write(loopCount: source.loopCount) }
        let delays = Self.centiseconds(source.frames.map(\.duration))
        var previous: [UInt8]?
        let all = source.frames.map { $0.pixels }
        for (index, pixels) in all.enumerated() {
            let straight = FramesToEncode.straightPixels(of: pixels)
            let isOpaque = !source.hasAlpha || Self.isOpaque(straight)
            // A frame with holes is seen alone; over an opaque one before it, only what differs is drawn.
            let rect =
                if isOpaque, let previous, let changed = Self.changes(previous, straight, source.size) {
                    changed
                } else {
                    PixelRect(size: source.size)
                }
            let area = Self.cut(straight, rect, source.size)
            let quantizer = ColorQuantizer(area, maximum: isOpaque ? colors : min(colors, 255))
            try writer.write(
                area, rect: rect, quantizer: quantizer, delay: delays[index], clearsAfterwards: !isOpaque,
                isOpaque: isOpaque)
            previous = isOpaque ? straight : nil
        }
        return try writer.finish()
    }

    /// Delays in hundredths of a second whose sums are exact, and none so short that players take it for a mistake.
    static func centiseconds(_ durations: [Duration]) -> [Int] {
        var time = 0.0
        var written = 0
        return durations.map { duration in
            time += duration.inSeconds * 100
            let delay = duration == .zero ? 0 : min(max(2, Int(time.rounded()) - written), 65_535)
            written += delay
            return delay
        }
    }

    private static func isOpaque(_ pixels: [UInt8]) -> Bool {
        stride(from: 3, to: pixels.count, by: 4).allSatisfy { ColorQuantizer.isOpaque(pixels[$0]) }
    }

    /// The smallest rectangle outside of which two pictures are equal; one pixel if they are equal everywhere.
    private static func changes(_ old: [UInt8], _ new: [UInt8], _ size: PixelSize) -> PixelRect? {
        var left = size.width
        var right = 0
        var top = size.height
        var bottom = 0
        for y in 0..<size.height {
            let row = y * size.width * 4..<(y + 1) * size.width * 4
            guard old[row] != new[row] else { continue }
            top = min(top, y)
            bottom = y + 1
            for x in 0..<size.width {
                let place = (y * size.width + x) * 4
                guard old[place..<place + 4] != new[place..<place + 4] else { continue }
                left = min(left, x)
                right = max(right, x + 1)
            }
        }
        guard top < bottom else { return PixelRect(size: PixelSize(width: 1, height: 1)) }
        return PixelRect(x: left, y: top, size: PixelSize(width: right - left, height: bottom - top))
    }

    private static func cut(_ pixels: [UInt8], _ rect: PixelRect, _ size: PixelSize) -> [UInt8] {
        guard !rect.covers(size) else { return pixels }
        var area: [UInt8] = []
        area.reserveCapacity(rect.size.pixelCount * 4)
        for y in rect.y..<rect.maxY {
            let start = (y * size.width + rect.x) * 4
            area += pixels[start..<start + rect.size.width * 4]
        }
        return area
    }
}
