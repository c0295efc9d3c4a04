/// The interest of each part of an image, judged on a small copy: edges of brightness, saturated colors, and skin tones, each
/// weighted by opacity.
struct SaliencyMap {
    private let size: PixelSize
    /// Sums of the interest above and to the left of each corner, in rows of `width + 1`.
    private let sums: [Double]

    /// The longer side of the small copy, in pixels.
    private static let side = 96

    init(_ pixels: PixelBuffer, _ context: ProcessingContext) throws(ImageError) {
        let small = pixels.size.scaled(into: PixelSize(width: Self.side, height: Self.side))
        let reduced = try pixels.resized(to: small, pool: context.pool)
        size = small
        let (width, height) = (small.width, small.height)
        var colors: [SIMD4<Float>] = []
        colors.reserveCapacity(small.pixelCount)
        for y in 0..<height { for x in 0..<width { colors.append(reduced.component(x: x, y: y)) } }
        let luma = colors.map { 0.2126 * $0.x + 0.7152 * $0.y + 0.0722 * $0.z }
        var sums = [Double](repeating: 0, count: (width + 1) * (height + 1))
        for y in 0..<height {
            var row = 0.0
            for x in 0..<width {
                row += Double(Self.interest(colors, luma, x, y, small))
                sums[(y + 1) * (width + 1) + x + 1] = sums[y * (width + 1) + x + 1] + row
            }
        }
        self.sums = sums
    }

    private static func interest(
        _ colors: [SIMD4<Float>], _ luma: [Float], _ x: Int, _ y: Int, _ size: PixelSize
    ) -> Float {
        let index = y * size.width + x
        func brightness(_ dx: Int, _ dy: Int) -> Float {
            luma[min(max(0, y + dy), size.height - 1) * size.width + min(max(0, x + dx), size.width - 1)]
        }
        let neighbors = brightness(-1, 0) + brightness(1, 0) + brightness(0, -1) + brightness(0, 1)
        let edge = abs(4 * luma[index] - neighbors)
        let color = colors[index].straight.clamped(lowerBound: .zero, upperBound: .one)
        let (low, high) = (min(color.x, color.y, color.z), max(color.x, color.y, color.z))
        let saturation = high > 0.1 ? (high - low) / high : 0
        // The distance of the hue from the hue of skin, independent of brightness.
        let length = (color.x * color.x + color.y * color.y + color.z * color.z).squareRoot()
        var skin: Float = 0
        if length > 0.35 {
            let (red, green, blue) = (color.x / length - 0.78, color.y / length - 0.51, color.z / length - 0.36)
            skin = max(0, 1 - (red * red + green * green + blue * blue).squareRoot() * 5)
        }
        // A little for everything opaque, so that a picture without detail is cropped in the center.
        return colors[index].w * (edge + saturation * 0.15 + skin * 0.3 + 0.02)
    }

    /// Returns the origin of the part of a canvas with the most interest.
    /// - Parameters:
    ///   - part: the size of the part.
    ///   - canvas: the displayed size of the image.
    func bestOrigin(of part: PixelSize, in canvas: PixelSize) -> (x: Int, y: Int) {
        let scaleX = Double(size.width) / Double(canvas.width)
        let scaleY = Double(size.height) / Double(canvas.height)
        let width = max(1, min(size.width, Int((Double(part.width) * scaleX).rounded())))
        let height = max(1, min(size.height, Int((Double(part.height) * scaleY).rounded())))
        var best = (score: -1.0, x: 0, y: 0)
        for y in 0...size.height - height {
            for x in 0...size.width - width {
                let stride = size.width + 1
                let sum =
                    sums[(y + height) * stride + x + width] - sums[y * stride + x + width]
                    - sums[(y + height) * stride + x] + sums[y * stride + x]
                // The center counts up to a tenth more.
                let offX = abs(Double(2 * x + width - size.width)) / Double(size.width)
                let offY = abs(Double(2 * y + height - size.height)) / Double(size.height)
                let score = sum * (1 - 0.1 * max(offX, offY))
                if score > best.score { best = (score, x, y) }
            }
        }
        return (Int((Double(best.x) / scaleX).rounded()), Int((Double(best.y) / scaleY).rounded()))
    }
}
