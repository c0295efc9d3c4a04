import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

@Suite("Transformers: geometry", .timeLimited)
struct GeometryTransformTests {
    @Test(
        "A crop is the part of the pixels, clipped to the image", .capability("TRF-06"), arguments: PixelFormat.allCases
    )
    func crop(format: PixelFormat) throws {
        let image = try Image.sample(17, 13, format)
        let part = try image.transformed(.crop(PixelRect(x: 3, y: 2, width: 5, height: 4)))
        #expect(part.grid == Grid(width: 5, height: 4) { image.grid[$0 + 3, $1 + 2] })
        #expect(part.isTransformed && part.pixels.format == format)
        let corner = try image.transformed(.crop(PixelRect(x: 15, y: -4, width: .max, height: 6)))
        #expect(corner.grid == Grid(width: 2, height: 2) { image.grid[$0 + 15, $1] })
        let whole = try image.transformed(.crop(width: 100, height: 100))
        #expect(whole.pixels === image.pixels)
    }

    @Test("A crop keeps an anchor, or centers on a point as far as the edges permit", .capability("TRF-06"))
    func cropPositions() throws {
        let image = try Image.sample(20, 10)
        func origin(_ transformer: any ImageTransformer) throws -> [Int] {
            let part = try image.transformed(transformer)
            #expect(part.size == PixelSize(width: 4, height: 4))
            for y in 0...6 {
                for x in 0...16 where part.grid == Grid(width: 4, height: 4, { image.grid[$0 + x, $1 + y] }) {
                    return [x, y]
                }
            }
            return []
        }
        #expect(try origin(.crop(width: 4, height: 4)) == [8, 3])
        #expect(try origin(.crop(width: 4, height: 4, position: .anchor(.bottomRight))) == [16, 6])
        #expect(try origin(.crop(width: 4, height: 4, position: .anchor(.left))) == [0, 3])
        #expect(try origin(.crop(width: 4, height: 4, position: .focus(ImageAnchor(x: 0.25, y: 0)))) == [3, 0])
        #expect(try image.transformed(.crop(aspectRatio: 1)).size == PixelSize(width: 10, height: 10))
        #expect(try image.transformed(.crop(aspectRatio: 4)).size == PixelSize(width: 20, height: 5))
        #expect(try image.transformed(.crop(aspectRatio: 1e-300)).size == PixelSize(width: 1, height: 10))
        #expect(try image.transformed(.crop(aspectRatio: 1e300)).size == PixelSize(width: 20, height: 1))
    }

    @Test("A content-aware crop keeps the detail, and the center of an image without any")
    func smartCrop() throws {
        for (left, top) in [(10, 20), (150, 60), (70, 5)] {
            let grid = Grid(width: 200, height: 100) { x, y in
                let isDetail = (left..<left + 30).contains(x) && (top..<top + 30).contains(y)
                let value = isDetail && (x / 3 + y / 3) % 2 == 0 ? 1.0 : 0.4
                return SIMD4(value, value * 0.6, 0.4, 1)
            }
            let part = try Image.of(grid).transformed(.crop(width: 60, height: 60, position: .smart))
            let kept = part.grid.pixels.count { $0.x > 0.9 }
            #expect(kept == grid.pixels.count { $0.x > 0.9 }, "detail at \(left), \(top)")
        }
        let plain = Grid(width: 64, height: 32) { x, _ in SIMD4(0.5, 0.5, 0.5, x == 31 ? 0.99 : 1) }
        let part = try Image.of(plain).transformed(.resize(width: 16, height: 16, mode: .aspectFill, position: .smart))
        #expect(part.size == PixelSize(width: 16, height: 16))
    }

    @Test("Flips and turns are exact, and undo themselves", .capability("TRF-07", "TRF-08"), arguments: transformSizes)
    func turns(size: PixelSize) throws {
        for format in PixelFormat.allCases {
            let image = try Image.sample(size.width, size.height, format)
            let grid = image.grid
            let (right, bottom) = (size.width - 1, size.height - 1)
            let flipped = try image.transformed(.flip(horizontally: true))
            #expect(flipped.grid == Grid(width: size.width, height: size.height) { grid[right - $0, $1] })
            #expect(try flipped.transformed(.flip(horizontally: true)).pixels == image.pixels)
            let upsideDown = try image.transformed(.flip(vertically: true))
            #expect(upsideDown.grid == Grid(width: size.width, height: size.height) { grid[$0, bottom - $1] })
            let turned = try image.transformed(.rotate(degrees: 90))
            #expect(turned.grid == Grid(width: size.height, height: size.width) { grid[$1, bottom - $0] })
            #expect(try turned.transformed(.rotate(degrees: -90)).pixels == image.pixels)
            let quarter: any ImageTransformer = .rotate(degrees: 90)
            #expect(try image.transformed(quarter.then(quarter).then(quarter).then(quarter)).pixels == image.pixels)
            let half = try image.transformed(.rotate(degrees: 180, expands: false))
            #expect(half.pixels == (try image.transformed(.flip(horizontally: true, vertically: true)).pixels))
        }
    }

    @Test("A quarter turn that keeps the size is as exact, in the middle of the background", arguments: transformSizes)
    func clippedTurns(size: PixelSize) throws {
        let (width, height) = (size.width, size.height)
        // Halves are rounded toward zero, for what is left out and for what is added.
        let shift = (width - height) / 2
        let turns: [(Double, PixelColor)] = [(90, .clear), (270, .white)]
        for format in PixelFormat.allCases {
            let image = try Image.sample(width, height, format)
            for (degrees, background) in turns {
                let turned = try image.transformed(.rotate(degrees: degrees)).grid
                let outside = SIMD4<Double>(repeating: background == .white ? 1 : 0)
                let expected = Grid(width: width, height: height) { x, y in
                    let (column, row) = (x - shift, y + shift)
                    let isInside = (0..<height).contains(column) && (0..<width).contains(row)
                    return isInside ? turned[column, row] : outside
                }
                let result = try image.transformed(
                    .rotate(degrees: degrees, expands: false, background: background))
                #expect(result.size == size && result.grid == expected, "\(format)")
            }
        }
    }

    /// The rotated grid, sampled with a Catmull-Rom filter in double precision.
    private func rotated(
        _ grid: Grid, degrees: Double, width: Int, height: Int, limitsColor: Bool = true
    ) -> Grid {
        let (sine, cosine) = sineAndCosine(degrees)
        func weight(_ distance: Double) -> Double {
            let t = abs(distance)
            let (square, cube): (Double, Double) = (t * t, t * t * t)
            if t < 1 { return 1.5 * cube - 2.5 * square + 1 }
            guard t < 2 else { return 0 }
            let falling: Double = 2.5 * square - 0.5 * cube
            return falling - 4 * t + 2
        }
        return Grid(width: width, height: height) { x, y in
            let dx: Double = Double(x) + 0.5 - Double(width) / 2
            let dy: Double = Double(y) + 0.5 - Double(height) / 2
            let sourceX: Double = dx * cosine + dy * sine + Double(grid.width) / 2 - 0.5
            let sourceY: Double = dy * cosine - dx * sine + Double(grid.height) / 2 - 0.5
            var sum = SIMD4<Double>.zero
            for row in 0..<grid.height where abs(Double(row) - sourceY) < 2 {
                for column in 0..<grid.width where abs(Double(column) - sourceX) < 2 {
                    let share: Double = weight(Double(column) - sourceX) * weight(Double(row) - sourceY)
                    sum += grid[column, row] * share
                }
            }
            let alpha = min(max(sum.w, 0), 1)
            sum.w = alpha
            return limitsColor ? sum.clamped(lowerBound: .zero, upperBound: SIMD4(repeating: alpha)) : sum
        }
    }

    private func sineAndCosine(_ degrees: Double) -> (Double, Double) {
        // The series of both, of an angle below π.
        let angle = degrees * .pi / 180
        var (sine, cosine, term) = (0.0, 0.0, 1.0)
        for n in 0..<40 {
            let sign = n / 2 % 2 == 0 ? 1.0 : -1
            if n % 2 == 0 { cosine += sign * term } else { sine += sign * term }
            term *= angle / Double(n + 1)
        }
        return (sine, cosine)
    }

    @Test("A rotation by any angle equals a cubic filter in double precision", .capability("TRF-08"))
    func rotation() throws {
        for format in PixelFormat.allCases {
            // Half precision has eleven bits.
            let (limitsColor, tolerance) = format == .rgbaFloat16 ? (false, 1e-3) : (true, max(format.level, 2e-4))
            for degrees in [30.0, 45, 101.5, 179] {
                let image = try Image.sample(21, 12, format)
                let result = try image.transformed(.rotate(degrees: degrees))
                let expected = rotated(
                    image.grid, degrees: degrees, width: result.size.width, height: result.size.height,
                    limitsColor: limitsColor)
                #expect(result.grid.difference(from: expected) < tolerance, "\(format)")
                let clipped = try image.transformed(.rotate(degrees: degrees, expands: false))
                #expect(clipped.size == image.size)
                let same = rotated(
                    image.grid, degrees: degrees, width: 21, height: 12, limitsColor: limitsColor)
                #expect(clipped.grid.difference(from: same) < tolerance, "\(format)")
            }
        }
        let opaque = try Image.sample(21, 12, isOpaque: true)
        #expect(try opaque.transformed(.rotate(degrees: 45)).hasAlpha)
        let red = PixelColor(red: 1, green: 0, blue: 0)
        let onRed = try opaque.transformed(.rotate(degrees: 45, background: red))
        #expect(!onRed.hasAlpha && onRed.grid.pixels.allSatisfy { $0.w == 1 })
        #expect(onRed.color(x: 0, y: 0) == red)
        #expect(try Image.sample(1, 1).transformed(.rotate(degrees: 45)).size == PixelSize(width: 2, height: 2))
    }

    @Test("All versions of the kernels sample the same pixels", arguments: PixelFormat.allCases)
    func samplingKernels(format: PixelFormat) throws {
        let source = try Image.sample(37, 23, format).pixels
        let results = try ComponentRow.allKernels.map { kernels in
            let sampler = AffineSampler(
                source: source, size: PixelSize(width: 40, height: 40), sine: 0.6, cosine: 0.8, kernels: kernels)
            return try sampler.pixels(background: PixelColor(red: 0.2, green: 0.4, blue: 0.6, alpha: 0.5), .current)
        }
        #expect(results.allSatisfy { $0 == results[0] })
    }

    @Test("Rotating by any angle takes an infinite color for larger than any number")
    func rotatingInfinity() throws {
        let buffer = try MutablePixelBuffer(size: PixelSize(width: 21, height: 21), format: .rgbaFloat16)
        // 1 and infinity in half precision.
        for y in 0..<21 {
            for x in 0..<21 { buffer.row(y).storeBytes(of: 0x3C00, toByteOffset: x * 8 + 6, as: UInt16.self) }
        }
        buffer.row(10).storeBytes(of: 0x7C00, toByteOffset: 10 * 8, as: UInt16.self)
        let image = Image(pixels: buffer.freeze())
        let rotated = try image.transformed(.rotate(degrees: 30))
        // The filter overshoots at its edges.
        #expect(rotated.grid.pixels.allSatisfy { [0, 65_504, -65_504].contains($0.x) })
        #expect(rotated.grid.pixels.contains { $0.x == 65_504 })
    }

    @Test("Padding adds pixels of a color, and keeps the others", arguments: PixelFormat.allCases)
    func pad(format: PixelFormat) throws {
        let image = try Image.sample(5, 4, format)
        let color = PixelColor(red: 1, green: 0.5, blue: 0, alpha: 1)
        let padded = try image.transformed(.pad(top: 1, left: 2, bottom: 3, color: color))
        #expect(padded.size == PixelSize(width: 7, height: 8))
        for y in 0..<8 {
            for x in 0..<7 {
                if x >= 2, (1..<5).contains(y) {
                    #expect(padded.grid[x, y] == image.grid[x - 2, y - 1])
                } else {
                    let expected = SIMD4(1.0, 0.5, 0, 1)
                    let difference = padded.grid[x, y] - expected
                    #expect((difference * difference).max() < 1e-4)
                }
            }
        }
        let square = try image.transformed(.pad(toWidth: 3, height: 6, anchor: .top))
        #expect(square.size == PixelSize(width: 5, height: 6) && square.grid[0, 5] == .zero)
        #expect(square.grid[4, 3] == image.grid[4, 3])
        #expect(try image.transformed(.pad(top: 0, left: 0, bottom: 0, right: 0)).pixels === image.pixels)
    }

    @Test("Trimming removes a border of one color, and nothing of a uniform image", arguments: PixelFormat.allCases)
    func trim(format: PixelFormat) throws {
        let image = try Image.sample(6, 5, format, isOpaque: true)
        let white = try image.transformed(.pad(top: 3, left: 1, bottom: 2, right: 4, color: .white))
        #expect(try white.transformed(.trim(tolerance: 0)).pixels == image.pixels)
        let uniform = try Image.of(Grid(width: 4, height: 4) { _, _ in SIMD4(0.5, 0.5, 0.5, 1) }, format)
        #expect(try uniform.transformed(.trim()).pixels === uniform.pixels)
    }

    @Test("Without tolerance, trimming removes a border of any gray", arguments: PixelFormat.allCases)
    func trimGrays(format: PixelFormat) throws {
        for gray in 0..<256 {
            let image = try Image.of(
                Grid(width: 5, height: 4) { x, y in
                    let value = Double(x == 2 && y == 1 ? (gray + 128) % 256 : gray) / 255
                    return SIMD4(value, value, value, 1)
                }, format)
            let trimmed = try image.transformed(.trim(tolerance: 0))
            #expect(trimmed.size == PixelSize(width: 1, height: 1) && trimmed.grid[0, 0] == image.grid[2, 1], "\(gray)")
        }
    }

    @Test("Resizing fills, fits, crops, and adds bars", .capability("TRF-05"))
    func resizeModes() throws {
        let image = try Image.sample(40, 20, isOpaque: true)
        func size(_ transformer: any ImageTransformer) throws -> [Int] {
            let size = try image.transformed(transformer).size
            return [size.width, size.height]
        }
        for mode in [ResizeMode.fill, .aspectFill, .letterbox] {
            #expect(try size(.resize(width: 30, height: 30, mode: mode)) == [30, 30])
            #expect(try size(.resize(width: 90, height: 70, mode: mode)) == [90, 70])
        }
        #expect(try size(.resize(width: 30, height: 30)) == [30, 15])
        #expect(try size(.resize(width: 30)) == [30, 15])
        #expect(try size(.resize(height: 30)) == [60, 30])
        #expect(try size(.resize(width: 90, height: 90, upscales: false)) == [40, 20])
        #expect(try size(.resize(width: 90, height: 10, mode: .fill, upscales: false)) == [40, 10])
        #expect(try size(.resize(width: 90, height: 10, mode: .aspectFill, upscales: false)) == [40, 10])
        let bars = try image.transformed(.resize(width: 20, height: 20, mode: .letterbox))
        #expect(bars.grid[0, 0] == .zero && bars.grid[10, 10].w == 1 && bars.hasAlpha)
        let left = try image.transformed(.resize(width: 20, height: 20, mode: .aspectFill, position: .anchor(.left)))
        #expect(left.pixels == (try image.transformed(.crop(width: 20, height: 20, position: .anchor(.left))).pixels))
        let filled = try image.transformed(.resize(width: 10, height: 10, mode: .aspectFill))
        let reduced = try image.transformed(.resize(width: 20, height: 10).crop(width: 10, height: 10))
        #expect(filled.grid.difference(from: reduced.grid) <= PixelFormat.rgba8.level)
    }

    @Test("In linear light, a pattern of black and white keeps its light", arguments: PixelFormat.allCases)
    func linearResize(format: PixelFormat) throws {
        let stripes = try Image.of(Grid(width: 64, height: 64) { x, _ in SIMD4(repeating: x % 2 == 0 ? 1 : 0) }, format)
        let opaque = try stripes.transformed(.background(.black))
        let light = try opaque.transformed(.resize(width: 8, height: 8, inLinearLight: true))
        // Half of the light is encoded as 188 of 255.
        #expect(abs(light.grid[4, 4].x - 0.735) < 0.006)
        let encoded = try opaque.transformed(.resize(width: 8, height: 8))
        #expect(abs(encoded.grid[4, 4].x - 0.5) < 0.006)
        let sample = try Image.sample(20, 20, format)
        let same = try sample.transformed(
            .resize(width: 40, inLinearLight: true).resize(width: 20, inLinearLight: true))
        #expect(same.grid.decibels(to: sample.grid) > 20)
    }
}
