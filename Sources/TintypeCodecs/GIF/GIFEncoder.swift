internal import CGIF
internal import FoundationEssentials
internal import TintypeImages

/// Writes a GIF with giflib: each frame with its own colors, and only where it differs from the previous frame.
struct GIFEncoder {
    static let maximumSide = 65_535

    private let job: EncodeJob
    private let image: Image
    private let dithers: Bool

    init(job: EncodeJob) {
        self.job = job
        image = job.image
        dithers = job.options.gif.dithers ?? !job.isAnimated
    }

    /// The file; with fewer colors where it would be over the limit of bytes.
    func encode() throws(ImageError) -> Data {
        let maximum = job.options.gif.maximumColors
        try job.check(maximum, in: 2...256, "gif.maximumColors")
        let areOpaque = try opacity()
        for colors in [maximum] + [128, 64, 32, 16, 8, 4, 2].filter({ $0 < maximum }) {
            try job.context.checkCancellation()
            let data = try file(colors: colors, areOpaque: areOpaque)
            if job.fits(data.count) { return data }
        }
        throw job.tooLarge()
    }

    /// Returns true for each frame that is opaque, for the first frame's transparency depends on all.
    private func opacity() throws(ImageError) -> [Bool] {
        guard image.hasAlpha else { return Array(repeating: true, count: image.animation?.frameCount ?? 1) }
        var areOpaque: [Bool] = []
        try job.forEachFrame { frame in areOpaque.append(Self.isOpaque(frame.pixels)) }
        return areOpaque
    }

    private func file(colors: Int, areOpaque: [Bool]) throws(ImageError) -> Data {
        let writer = try GIFWriter(size: image.size)
        if image.isAnimated, image.loopCount != 1 { try writer.write(loopCount: image.loopCount) }
        let delays = Self.centiseconds(image.animation?.frameDurations ?? [.zero])
        // Some viewers clear to the background color unless the frame that is cleared has a transparent index, and have no transparency
        // at all unless the first frame has it.
        let hasTransparentIndex = areOpaque.contains(false)
        var previous: PixelBuffer?
        var index = 0
        try job.forEachFrame { frame throws(ImageError) in
            defer { index += 1 }
            let pixels = frame.pixels
            let isOpaque = areOpaque[index]
            // Nothing may show through the holes of the next frame: this frame covers the canvas and is cleared.
            let clearsAfterwards = index + 1 < areOpaque.count && !areOpaque[index + 1]
            // Of an opaque frame over another, only the part that differs is drawn.
            let rect =
                if isOpaque, !clearsAfterwards, let previous {
                    PixelRect(covering: pixels, differingFrom: previous)
                } else {
                    PixelRect(size: image.size)
                }
            let area = Self.cut(pixels.straightPixels, rect, image.size)
            let quantizer = ColorQuantizer(area, maximum: hasTransparentIndex ? min(colors, 255) : colors)
            try job.context.checkCancellation()
            // A palette that is exact leaves nothing to spread.
            let indices =
                dithers && !quantizer.isExact
                ? ErrorDiffusion(palette: quantizer.palette).indices(of: area, width: rect.size.width)
                : quantizer.indices(of: area)
            try writer.write(
                indices, rect: rect, palette: quantizer.palette, delay: delays[index],
                clearsAfterwards: clearsAfterwards, hasTransparentIndex: hasTransparentIndex, context: job.context)
            previous = isOpaque && !clearsAfterwards ? pixels : nil
        }
        return try writer.finish()
    }

    /// Delays in hundredths of a second whose sums are exact, and none so short that players take it for a mistake. The part of
    /// a delay beyond the longest that GIF has is lost, and not made up for by later frames.
    static func centiseconds(_ durations: [Duration]) -> [Int] {
        var time = 0.0
        var written = 0
        return durations.map { duration in
            time += min(max(0, duration.inSeconds), 1e9) * 100
            let delay = duration == .zero ? 0 : max(2, Int(time.rounded()) - written)
            written += delay
            return min(delay, 65_535)
        }
    }

    private static func isOpaque(_ pixels: PixelBuffer) -> Bool {
        (0..<pixels.height).allSatisfy { y in
            pixels.withRow(y) { row in
                stride(from: 3, to: pixels.width * 4, by: 4).allSatisfy { ColorQuantizer.isOpaque(row[$0]) }
            }
        }
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
