import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

@Suite("Transformers: shapes", .timeLimited)
struct ShapeTransformTests {
    /// The part of a pixel inside a rounded rectangle, by 64 × 64 samples.
    private func coverage(
        _ x: Int, _ y: Int, _ size: PixelSize, inset: Double, radius: Double, corners: ImageCorners
    ) -> Double {
        let (right, bottom) = (Double(size.width) - inset, Double(size.height) - inset)
        guard right > inset, bottom > inset else { return 0 }
        let radius = max(0, min(radius, (right - inset) / 2, (bottom - inset) / 2))
        var count = 0
        for j in 0..<64 {
            for i in 0..<64 {
                let px: Double = Double(x) + (Double(i) + 0.5) / 64
                let py: Double = Double(y) + (Double(j) + 0.5) / 64
                guard px > inset, px < right, py > inset, py < bottom else { continue }
                let isLeft = px < inset + radius
                let isRight = px > right - radius
                let isTop = py < inset + radius
                let isBottom = py > bottom - radius
                let corner: ImageCorners =
                    isTop
                    ? (isLeft ? .topLeft : isRight ? .topRight : [])
                    : isBottom ? (isLeft ? .bottomLeft : isRight ? .bottomRight : []) : []
                if !corner.isEmpty, corners.contains(corner) {
                    let dx = isLeft ? inset + radius - px : px - right + radius
                    let dy = isTop ? inset + radius - py : py - bottom + radius
                    guard dx * dx + dy * dy <= radius * radius else { continue }
                }
                count += 1
            }
        }
        return Double(count) / 4_096
    }

    @Test("Corners and borders equal an oversampled shape", .capability("TRF-04"), arguments: PixelFormat.allCases)
    func rounded(format: PixelFormat) throws {
        let cases: [(size: PixelSize, radius: Double, corners: ImageCorners, border: Double)] = [
            (PixelSize(width: 21, height: 15), 5, .all, 0),
            (PixelSize(width: 21, height: 15), 6.5, [.topLeft, .bottomRight], 2.5),
            (PixelSize(width: 9, height: 14), 100, .all, 1), (PixelSize(width: 1, height: 1), 3, .all, 0),
            (PixelSize(width: 1, height: 7), 3, .all, 0.25), (PixelSize(width: 12, height: 12), 0, .all, 1.5),
            (PixelSize(width: 10, height: 8), 3, [.topLeft, .topRight], 40),
        ]
        let color = PixelColor(red: 0.9, green: 0.2, blue: 0.1, alpha: 0.8)
        for one in cases {
            let image = try Image.sample(one.size.width, one.size.height, format)
            let result = try image.transformed(
                .rounded(radius: one.radius, corners: one.corners, borderWidth: one.border, borderColor: color))
            let radius = min(one.radius, Double(min(one.size.width, one.size.height)) / 2)
            let border: SIMD4<Double> = SIMD4(0.9, 0.2, 0.1, 1) * 0.8
            let expected = Grid(width: one.size.width, height: one.size.height) { x, y in
                let outer = coverage(x, y, one.size, inset: 0, radius: radius, corners: one.corners)
                let inner = coverage(
                    x, y, one.size, inset: one.border, radius: radius - one.border, corners: one.corners)
                let edge = one.border > 0 ? max(0, outer - inner) : 0
                let inside: SIMD4<Double> = image.grid[x, y] * (outer - edge * 0.8)
                return inside + border * edge
            }
            // 64 samples have an error of about a hundredth of a level of 8 bits.
            #expect(result.grid.difference(from: expected) < format.level + 0.012, "\(one)")
            #expect(result.grid.decibels(to: expected) > 40)
        }
        let opaque = try Image.sample(8, 8, format, isOpaque: true)
        #expect(try opaque.transformed(.rounded(radius: 3)).hasAlpha)
        #expect(try !opaque.transformed(.rounded(radius: 0)).hasAlpha)
    }

    @Test("Rows without corners, and those beside an overlay, are copied as they are", arguments: PixelFormat.allCases)
    func copiedRows(format: PixelFormat) throws {
        let image = try Image.sample(21, 40, format, isOpaque: true)
        func part(_ image: Image, _ rows: Range<Int>) throws -> PixelBuffer {
            let part = PixelRect(x: 0, y: rows.lowerBound, width: 21, height: rows.count)
            return try image.pixels.cropped(to: part, ProcessingContext())
        }
        let rounded = try image.transformed(.rounded(radius: 6.5))
        let mark = try Image.sample(5, 4, format, isOpaque: true, seed: 2)
        let marked = try image.transformed(.overlay(mark))
        let cases = [
            (rounded, 0..<7, false), (rounded, 7..<33, true), (rounded, 33..<40, false), (marked, 0..<18, true),
            (marked, 18..<22, false), (marked, 22..<40, true),
        ]
        for (result, rows, isCopied) in cases {
            let (found, source) = (try part(result, rows), try part(image, rows))
            #expect((found == source) == isCopied, "\(rows)")
        }
    }

    @Test("A circle is the center, as large as the shorter side", .capability("TRF-04"))
    func circle() throws {
        let image = try Image.of(Grid(width: 31, height: 20) { _, _ in SIMD4(repeating: 1) })
        let circle = try image.transformed(.circle())
        #expect(circle.size == PixelSize(width: 20, height: 20) && circle.hasAlpha)
        let area = circle.grid.pixels.reduce(0) { $0 + $1.w }
        #expect(abs(area - .pi * 100) < 0.3)
        #expect(circle.grid[0, 0] == .zero && circle.grid[10, 10].w == 1)
        let ring = try image.transformed(.circle(borderWidth: 2, borderColor: PixelColor(red: 1, green: 0, blue: 0)))
        #expect(ring.color(x: 10, y: 1) == PixelColor(red: 1, green: 0, blue: 0) && ring.color(x: 10, y: 10) == .white)
    }
}
