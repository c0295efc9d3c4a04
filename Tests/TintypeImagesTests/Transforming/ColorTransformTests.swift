import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

@Suite("Transformers: color", .timeLimited)
struct ColorTransformTests {
    /// The result of a matrix in double precision.
    private func applied(_ matrix: ColorMatrix, to grid: Grid) -> Grid {
        grid.mapped { pixel in
            let color = pixel.w > 0 ? SIMD4(pixel.x / pixel.w, pixel.y / pixel.w, pixel.z / pixel.w, pixel.w) : .zero
            let input = [color.x, color.y, color.z, color.w, 1]
            let output = (0..<4).map { (row: Int) -> Double in
                var sum = 0.0
                for column in 0..<5 { sum += matrix[row, column] * input[column] }
                return min(max(sum, 0), 1)
            }
            return SIMD4(output[0] * output[3], output[1] * output[3], output[2] * output[3], output[3])
        }
    }

    private static let alphaMatrix = ColorMatrix([
        0.5, 0.1, 0, 0.2, 0.1, 0, 1, -0.3, 0, 0.2, 0.2, 0, 0.9, -0.1, 0, 0.3, 0, 0, 0.5, 0.1,
    ])

    @Test(
        "Every matrix equals arithmetic in double precision, in all formats", .capability("TRF-11"),
        arguments: PixelFormat.allCases)
    func matrices(format: PixelFormat) throws {
        var matrices: [ColorMatrix] = [
            .identity, .grayscale(), .grayscale(0.3), .sepia(), .invert(), .invert(0.25), .saturation(1.8),
            .saturation(0), .brightness(1.4), .contrast(0.6), .contrast(1.7), .hueRotation(degrees: 77),
        ]
        matrices.append(try #require(Self.alphaMatrix))
        for size in transformSizes {
            for isOpaque in [false, true] {
                let image = try Image.sample(size.width, size.height, format, isOpaque: isOpaque)
                for matrix in matrices {
                    let result = try image.transformed(.colorMatrix(matrix))
                    let expected = applied(matrix, to: image.grid)
                    let limit = format == .rgbaFloat16 ? 0.002 : format.level * 1.01
                    // Half precision isn't limited to the range.
                    let found = format == .rgbaFloat16 ? limited(result.grid) : result.grid
                    #expect(found.difference(from: expected) < limit, "\(matrix)")
                }
            }
        }
    }

    @Test(
        "Inverting 8-bit pixels equals the arithmetic of other matrices, for each color and each alpha",
        .capability("TRF-11"))
    func inversion() throws {
        // The last pixels of a row don't fill a vector. Some colors exceed alpha.
        let size = PixelSize(width: 259, height: 256)
        let buffer = try MutablePixelBuffer(size: size)
        for y in 0..<size.height {
            for x in 0..<size.width {
                let color = UInt8(x & 255)
                let pixel = SIMD4<UInt8>(color, 255 - color, color ^ 85, UInt8(y))
                buffer.row(y).storeBytes(of: pixel, toByteOffset: x * 4, as: SIMD4<UInt8>.self)
            }
        }
        let image = Image(pixels: buffer.freeze())
        let expected = try image.pixels.mappingComponents(ProcessingContext()) { row, _ in
            for x in row.indices {
                let pixel = row[x]
                row[x] = SIMD4(pixel.w - pixel.x, pixel.w - pixel.y, pixel.w - pixel.z, pixel.w)
            }
        }
        #expect(try image.transformed(.invert()).pixels == expected)
    }

    private func limited(_ grid: Grid) -> Grid {
        grid.mapped { $0.clamped(lowerBound: .zero, upperBound: SIMD4(repeating: min(max($0.w, 0), 1))) }
    }

    @Test("A matrix and its inverse are the identity, and matrices can be concatenated", .capability("TRF-11"))
    func inverse() throws {
        let image = try Image.sample(40, 30, .rgba16, isOpaque: true)
        let inverted = try image.transformed(.invert().invert())
        #expect(inverted.grid.difference(from: image.grid) < 2.5 / 65_535)
        let both = ColorMatrix.contrast(0.5).concatenated(with: .hueRotation(degrees: 40))
        let once = try image.transformed(.colorMatrix(both))
        let twice = try image.transformed(.contrast(0.5).hueRotation(degrees: 40))
        #expect(once.grid.difference(from: twice.grid) < 3.0 / 65_535)
        #expect(ColorMatrix.identity.concatenated(with: .sepia()) == .sepia())
        let red = try Image.of(Grid(width: 1, height: 1) { _, _ in SIMD4(1, 0, 0, 1) })
        let turned = try red.transformed(.hueRotation(degrees: 360)).color(x: 0, y: 0)
        #expect(turned == PixelColor(red: 1, green: 0, blue: 0))
    }

    // MARK: Blend modes

    private func component(_ mode: BlendMode, _ cs: Double, _ cb: Double) -> Double? {
        switch mode {
        case .multiply: return cs * cb
        case .screen: return 1 - (1 - cs) * (1 - cb)
        case .overlay: return component(.hardLight, cb, cs)
        case .darken: return min(cs, cb)
        case .lighten: return max(cs, cb)
        case .colorDodge: return cb == 0 ? 0 : cs == 1 ? 1 : min(1, cb / (1 - cs))
        case .colorBurn: return cb == 1 ? 1 : cs == 0 ? 0 : 1 - min(1, (1 - cb) / cs)
        case .hardLight: return cs <= 0.5 ? cb * 2 * cs : 1 - (1 - cb) * (1 - (2 * cs - 1))
        case .softLight:
            let d = cb <= 0.25 ? ((16 * cb - 12) * cb + 4) * cb : cb.squareRoot()
            return cs <= 0.5 ? cb - (1 - 2 * cs) * cb * (1 - cb) : cb + (2 * cs - 1) * (d - cb)
        case .difference: return abs(cb - cs)
        case .exclusion: return cb + cs - 2 * cb * cs
        default: return nil
        }
    }

    /// The fractions of source and destination of an operator (Porter and Duff, 1984).
    private func fractions(_ mode: BlendMode, _ s: Double, _ d: Double) -> (Double, Double)? {
        switch mode {
        case .clear: (0, 0)
        case .source: (1, 0)
        case .destination: (0, 1)
        case .sourceOver: (1, 1 - s)
        case .destinationOver: (1 - d, 1)
        case .sourceIn: (d, 0)
        case .destinationIn: (0, s)
        case .sourceOut: (1 - d, 0)
        case .destinationOut: (0, 1 - s)
        case .sourceAtop: (d, 1 - s)
        case .destinationAtop: (1 - d, s)
        case .xor: (1 - d, 1 - s)
        case .plusLighter: (1, 1)
        default: nil
        }
    }

    @Test(
        "Tints equal the operators of Porter and Duff, and the blend modes of the W3C", .capability("TRF-09"),
        arguments: BlendMode.allCases)
    func tints(mode: BlendMode) throws {
        for (format, isOpaque) in PixelFormat.allCases.flatMap({ [($0, false), ($0, true)] }) {
            for color in [
                PixelColor(red: 0.2, green: 0.9, blue: 0.6, alpha: 0.7), PixelColor(red: 1, green: 0.4, blue: 0),
            ] {
                let image = try Image.sample(23, 11, format, isOpaque: isOpaque)
                let result = try image.transformed(.tint(color, mode: mode))
                let alpha = Double(color.alpha)
                let straight = SIMD4(Double(color.red), Double(color.green), Double(color.blue), 1)
                let s = straight * alpha
                let expected = image.grid.mapped { d -> SIMD4<Double> in
                    if let (fs, fd) = fractions(mode, s.w, d.w) {
                        let sum: SIMD4<Double> = s * fs + d * fd
                        guard format == .rgbaFloat16 else { return sum.clamped(lowerBound: .zero, upperBound: .one) }
                        return SIMD4(sum.x, sum.y, sum.z, min(1, sum.w))
                    }
                    var result: SIMD4<Double> = s * (1 - d.w)
                    result += d * (1 - s.w)
                    for index in 0..<3 {
                        guard let mixed = component(mode, straight[index], d.w > 0 ? d[index] / d.w : 0) else {
                            return .init(repeating: .nan)
                        }
                        result[index] += s.w * d.w * mixed
                    }
                    result.w = s.w + d.w - s.w * d.w
                    return result
                }
                guard !expected.pixels.contains(where: { $0.x.isNaN }) else { continue }
                #expect(result.grid.difference(from: expected) < max(format.level * 1.01, 2e-4), "\(format)")
            }
        }
    }

    @Test("A neutral color leaves colors beyond black and white alone", .capability("TRF-09"))
    func neutralTints() throws {
        let bright = PixelColor(red: 4, green: -0.25, blue: 0.5)
        let image = try Image(size: PixelSize(width: 3, height: 2), pixelFormat: .rgbaFloat16) { $0.fill(bright) }
        let neutral: [(BlendMode, PixelColor)] = [(.multiply, .white), (.screen, .black), (.exclusion, .black)]
        for (mode, color) in neutral {
            let result = try image.transformed(.tint(color, mode: mode))
            #expect(result.pixels == image.pixels, "\(mode)")
        }
        // This formula needs the range.
        let limited = try image.transformed(.tint(.white, mode: .colorBurn))
        #expect(limited.color(x: 0, y: 0) == PixelColor(red: 1, green: 0, blue: 0.5))
    }

    @Test("A color burn leaves white of any alpha white", .capability("TRF-09"))
    func burntWhite() throws {
        let size = PixelSize(width: 256, height: 1)
        let image = try Image(size: size) { surface in
            for x in 0..<256 { surface[x, 0] = SIMD4(repeating: UInt8(x)) }
        }
        let burnt = try image.transformed(.tint(.black, mode: .colorBurn))
        // Where the image is, it is white; where it isn't, the black of the color is.
        for x in 0..<256 {
            let pixel = burnt.pixels[x, 0]
            #expect(pixel == SIMD4(UInt8(x), UInt8(x), UInt8(x), 255))
        }
    }

    @Test("Modes of hue, saturation, color and luminosity exchange these", .capability("TRF-09"))
    func hueModes() throws {
        func luminosity(_ pixel: SIMD4<Double>) -> Double { 0.3 * pixel.x + 0.59 * pixel.y + 0.11 * pixel.z }
        let image = try Image.sample(30, 20, .rgba16, isOpaque: true)
        let color = PixelColor(red: 0.3, green: 0.6, blue: 0.5)
        let target = 0.3 * 0.3 + 0.59 * 0.6 + 0.11 * 0.5
        for mode in [BlendMode.hue, .saturation, .color] {
            let result = try image.transformed(.tint(color, mode: mode)).grid
            for (one, other) in zip(result.pixels, image.grid.pixels) {
                #expect(abs(luminosity(one) - luminosity(other)) < 1e-4)
            }
        }
        let result = try image.transformed(.tint(color, mode: .luminosity)).grid
        for pixel in result.pixels { #expect(abs(luminosity(pixel) - target) < 1e-4) }
        let dark = try image.transformed(.tint(.black, mode: .plusDarker))
        #expect(dark.grid.pixels.allSatisfy { $0 == SIMD4(0, 0, 0, 1) })
    }

    @Test("A clear tint changes nothing, and an icon gets the color", .capability("TRF-09"))
    func icon() throws {
        let image = try Image.sample(9, 9)
        #expect(try image.transformed(.tint(.clear)).pixels === image.pixels)
        let icon = try image.transformed(.tint(PixelColor(red: 1, green: 0, blue: 0)))
        for (one, other) in zip(icon.grid.pixels, image.grid.pixels) {
            #expect(one == SIMD4(other.w, 0, 0, other.w))
        }
    }

    @Test("An overlay without opacity does what one with hardly any does", arguments: BlendMode.allCases)
    func clearOverlay(mode: BlendMode) throws {
        let image = try Image.sample(15, 9)
        let mark = try Image.sample(4, 3, seed: 9)
        let clear = try image.transformed(.overlay(mark, opacity: 0, mode: mode))
        let faint = try image.transformed(.overlay(mark, opacity: 1e-6, mode: mode))
        #expect(clear.pixels == faint.pixels)
        #expect((clear.pixels === image.pixels) == mode.ignoresClearSource)
    }

    @Test(
        "A background makes an image opaque, and overlays have a place, a size and an opacity",
        arguments: PixelFormat.allCases)
    func layers(format: PixelFormat) throws {
        let image = try Image.sample(15, 9, format)
        let onWhite = try image.transformed(.background(.white))
        #expect(!onWhite.hasAlpha)
        let expected = image.grid.mapped { pixel in pixel + SIMD4<Double>(repeating: 1 - pixel.w) }
        #expect(onWhite.grid.difference(from: expected) < max(format.level, 1e-3))
        let mark = try Image.sample(4, 3, seed: 9)
        let marked = try onWhite.transformed(.overlay(mark, anchor: .bottomRight, offsetX: -2, opacity: 0.5))
        let base = onWhite.grid
        let reference = Grid(width: 15, height: 9) { x, y in
            guard (9..<13).contains(x), y >= 6 else { return base[x, y] }
            let source = mark.grid[x - 9, y - 6] * 0.5
            let rest: SIMD4<Double> = base[x, y] * (1 - source.w)
            return source + rest
        }
        #expect(marked.grid.difference(from: reference) < max(format.level, 1e-3))
        #expect(!marked.hasAlpha)
        let outside = try onWhite.transformed(.overlay(mark, anchor: .topLeft, offsetX: 100))
        #expect(outside.pixels === onWhite.pixels)
        let large = try onWhite.transformed(.overlay(mark, anchor: .center, offsetX: -3, width: 40))
        #expect(large.size == onWhite.size && large.pixels != onWhite.pixels)
    }
}
