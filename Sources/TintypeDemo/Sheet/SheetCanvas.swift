internal import Tintype

/// Draws boxes, images and text into a picture.
struct SheetCanvas: ~Copyable {
    /// An opaque color in sRGB.
    struct Color {
        var red: Float, green: Float, blue: Float

        init(_ hex: UInt32) {
            red = Float(hex >> 16 & 255)
            green = Float(hex >> 8 & 255)
            blue = Float(hex & 255)
        }

        fileprivate var pixel: SIMD4<UInt8> { SIMD4(UInt8(red), UInt8(green), UInt8(blue), 255) }
        fileprivate var vector: SIMD4<Float> { SIMD4(red, green, blue, 255) }
    }

    /// A rectangle on the sheet.
    struct Box {
        var x: Int, y: Int, width: Int, height: Int

        /// Returns a box of another size with the same center.
        func centered(_ size: PixelSize) -> Box {
            Box(
                x: x + (width - size.width) / 2, y: y + (height - size.height) / 2, width: size.width,
                height: size.height)
        }
    }

    private var buffer: MutablePixelBuffer

    init(_ size: PixelSize, background: Color) throws(ImageError) {
        buffer = try MutablePixelBuffer(size: size)
        fill(Box(x: 0, y: 0, width: size.width, height: size.height), background)
    }

    consuming func finish() -> Image {
        Image(pixels: buffer.freeze()).with { $0.hasAlpha = false }
    }

    /// Fills a box with rounded corners.
    mutating func fill(_ box: Box, _ color: Color, radius: Int = 0) {
        for y in 0..<box.height {
            // Only the corners mix with what is under them.
            let isCorner = y < radius || y >= box.height - radius
            let inside = isCorner ? min(radius, box.width)..<max(radius, box.width - radius) : 0..<box.width
            replace(inside, ofRow: y, of: box, with: color)
            guard isCorner else { continue }
            for x in 0..<box.width where !inside.contains(x) {
                blend(color, coverage(x, y, box, radius), x: box.x + x, y: box.y + y)
            }
        }
    }

    /// Fills a box with the two tones of a checkerboard, as a background for transparency.
    mutating func chequer(_ box: Box, _ light: Color, _ dark: Color, side: Int = 8, radius: Int) {
        for y in 0..<box.height {
            for x in 0..<box.width {
                let color = (x / side + y / side).isMultiple(of: 2) ? light : dark
                blend(color, coverage(x, y, box, radius), x: box.x + x, y: box.y + y)
            }
        }
    }

    /// Draws an image with rounded corners on the sheet.
    mutating func draw(_ pixels: PixelBuffer, in box: Box, radius: Int) {
        for y in 0..<min(box.height, pixels.height) {
            for x in 0..<min(box.width, pixels.width) {
                let source = SIMD4<Float>(pixels[x, y]) * coverage(x, y, box, radius)
                update(x: box.x + x, y: box.y + y) { source + $0 * (1 - source.w / 255) }
            }
        }
    }

    /// Writes a line of text.
    /// - Parameters:
    ///   - unit: the size of a unit of the font's grid, in pixels.
    ///   - weight: the thickness of its lines, in pixels.
    mutating func write(_ text: String, x: Float, y: Float, unit: Float, weight: Float, _ color: Color) {
        var left = x
        for character in text {
            let glyph = StrokeFont.glyph(character)
            for line in glyph.lines {
                let points = line.map { StrokeFont.Point(left, y) + $0 * unit }
                stroke(points, radius: weight / 2, color)
            }
            left += glyph.advance * unit
        }
    }

    // MARK: Inside

    /// Draws a line through points. The color of a pixel depends on its distance from the nearest part of the line.
    private mutating func stroke(_ points: [StrokeFont.Point], radius: Float, _ color: Color) {
        guard let first = points.first else { return }
        var low = first
        var high = first
        for point in points {
            low = pointwiseMin(low, point)
            high = pointwiseMax(high, point)
        }
        let margin = radius + 1
        for row in Int(low.y - margin)...Int(high.y + margin) {
            for column in Int(low.x - margin)...Int(high.x + margin) {
                let center = StrokeFont.Point(Float(column) + 0.5, Float(row) + 0.5)
                var distance = Self.distance(center, first, first)
                for (from, to) in zip(points, points.dropFirst()) {
                    distance = min(distance, Self.distance(center, from, to))
                }
                blend(color, max(0, min(1, radius + 0.5 - distance)), x: column, y: row)
            }
        }
    }

    private static func distance(_ point: StrokeFont.Point, _ from: StrokeFont.Point, _ to: StrokeFont.Point) -> Float {
        let line = to - from
        let length = (line * line).sum()
        let position = length > 0 ? max(0, min(1, ((point - from) * line).sum() / length)) : 0
        let offset = point - from - line * position
        return (offset * offset).sum().squareRoot()
    }

    /// Returns the fraction of a pixel that a box with rounded corners covers.
    private func coverage(_ x: Int, _ y: Int, _ box: Box, _ radius: Int) -> Float {
        guard radius > 0 else { return 1 }
        let right = Float(radius - min(x, box.width - 1 - x)) - 0.5
        let down = Float(radius - min(y, box.height - 1 - y)) - 0.5
        guard right > 0, down > 0 else { return 1 }
        return max(0, min(1, Float(radius) + 0.5 - (right * right + down * down).squareRoot()))
    }

    private mutating func replace(_ columns: Range<Int>, ofRow y: Int, of box: Box, with color: Color) {
        guard (0..<buffer.height).contains(box.y + y) else { return }
        let columns = (columns.lowerBound + box.x..<columns.upperBound + box.x).clamped(to: 0..<buffer.width)
        (buffer.row(box.y + y) + columns.lowerBound * 4)
            .initializeMemory(as: SIMD4<UInt8>.self, repeating: color.pixel, count: columns.count)
    }

    private mutating func blend(_ color: Color, _ coverage: Float, x: Int, y: Int) {
        guard coverage > 0 else { return }
        update(x: x, y: y) { $0 + (color.vector - $0) * coverage }
    }

    private mutating func update(x: Int, y: Int, _ change: (SIMD4<Float>) -> SIMD4<Float>) {
        guard x >= 0, y >= 0, x < buffer.width, y < buffer.height else { return }
        let address = buffer.row(y) + x * 4
        let old = SIMD4<Float>(address.loadUnaligned(as: SIMD4<UInt8>.self))
        let new = change(old).clamped(lowerBound: .zero, upperBound: SIMD4(repeating: 255))
        address.storeBytes(of: SIMD4<UInt8>(truncatingIfNeeded: SIMD4<Int32>(new + 0.5)), as: SIMD4<UInt8>.self)
    }
}
