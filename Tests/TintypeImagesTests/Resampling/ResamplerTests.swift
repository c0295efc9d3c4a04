import CKernels
import Foundation
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

@Suite("Resampling", .timeLimited)
struct ResamplerTests {
    /// Sizes that reach every way through the resampler: a little, a lot and no change in each direction, both ways of
    /// adding up, blocks that are not full, single rows and columns.
    static let cases: [(PixelSize, PixelSize)] = [
        (size(64, 48), size(32, 24)), (size(100, 75), size(40, 30)), (size(131, 97), size(13, 11)),
        (size(200, 150), size(20, 15)), (size(90, 301), size(30, 7)), (size(33, 17), size(66, 51)),
        (size(17, 33), size(40, 33)), (size(40, 33), size(40, 12)), (size(5, 7), size(90, 80)),
        (size(200, 3), size(20, 11)), (size(3, 200), size(50, 11)), (size(1, 50), size(9, 5)),
        (size(50, 1), size(5, 9)), (size(2, 2), size(1, 1)), (size(1, 1), size(21, 3)),
        (size(16, 16), size(15, 17)), (size(400, 65), size(2, 2)), (size(31, 193), size(32, 32)),
    ]

    @Test("Every component is within 1 of Lanczos in double precision", arguments: cases, Picture.allCases)
    func reference(sizes: (PixelSize, PixelSize), picture: Picture) throws {
        let source = try picture.draw(sizes.0)

        let result = try source.resized(to: sizes.1)

        let expected = Reference.resize(source, to: sizes.1)
        #expect(result.size == sizes.1)
        let difference = Difference(result, expected)
        #expect(difference.largest <= 1, "\(difference)")
        #expect(difference.psnr > 55, "\(difference)")
    }

    @Test(
        "An image that becomes much narrower and much higher is within 4", arguments: Picture.allCases,
        [size(200, 3), size(200, 10), size(203, 1)])
    func narrowerAndHigher(picture: Picture, from: PixelSize) throws {
        let source = try picture.draw(from)
        let to = Self.size(20, 40)
        let difference = Difference(try source.resized(to: to), Reference.resize(source, to: to))
        #expect(difference.largest <= 4 && difference.psnr > 50, "\(difference)")
    }

    @Test("The work follows the pixels, not the product of the long sides")
    func crossedSides() throws {
        // 10^10 multiplications if wide rows were added up for each target row.
        let row = try PixelBuffer.drawn(Self.size(100_000, 1)) { _, _ in SIMD4(1, 2, 3, 4) }
        let result = try row.resized(to: Self.size(1, 100_000))
        #expect(result[0, 0] == SIMD4(1, 2, 3, 4) && result[0, 99_999] == SIMD4(1, 2, 3, 4))
    }

    @Test("All versions of the kernels make the same pixels", arguments: cases + [(size(200, 3), size(20, 40))])
    func versions(sizes: (PixelSize, PixelSize)) throws {
        let source = try Picture.noise.draw(sizes.0)
        let expected = try source.resized(to: sizes.1)
        for kernels in RowResampler.kernels {
            var resampler = try RowResampler(from: sizes.0, to: sizes.1, pool: .shared, kernels: kernels)
            push(source, to: &resampler)
            #expect(resampler.finish() == expected)
        }
    }

    @Test(
        "Rows that come one by one, in memory that is used again, make the same pixels",
        arguments: cases + [(size(200, 3), size(20, 40))])
    func streaming(sizes: (PixelSize, PixelSize)) throws {
        let source = try Picture.noise.draw(sizes.0)
        var resampler = try RowResampler(from: sizes.0, to: sizes.1)
        push(source, to: &resampler)
        #expect(try resampler.finish() == source.resized(to: sizes.1))
    }

    @Test(
        "One color stays that color",
        arguments: cases,
        [SIMD4<UInt8>(255, 255, 255, 255), SIMD4(0, 0, 0, 0), SIMD4(1, 128, 200, 200), SIMD4(3, 2, 1, 3)])
    func constant(sizes: (PixelSize, PixelSize), color: SIMD4<UInt8>) throws {
        let source = try PixelBuffer.drawn(sizes.0) { _, _ in color }
        let result = try source.resized(to: sizes.1)
        #expect(try result == PixelBuffer.drawn(sizes.1) { _, _ in color })
    }

    @Test("A filter of 20,000 samples keeps one color, and what it reads", arguments: [true, false])
    func extremeShrink(wide: Bool) throws {
        let long = wide ? Self.size(20_000, 1) : Self.size(1, 20_000)
        let gray = try PixelBuffer.drawn(long) { _, _ in SIMD4(77, 78, 79, 255) }
        #expect(try gray.resized(to: Self.size(1, 1))[0, 0] == SIMD4(77, 78, 79, 255))

        let stripes = try PixelBuffer.drawn(long) { x, y in
            (x + y) % 2 == 0 ? SIMD4(0, 0, 0, 255) : SIMD4(200, 100, 50, 255)
        }
        #expect(try stripes.resized(to: Self.size(1, 1))[0, 0] == SIMD4(100, 50, 25, 255))
    }

    @Test("A great enlargement is made in about the memory of the result")
    func extremeGrowth() throws {
        let pool = PixelBufferPool(limit: .megabytes(64))
        let source = try Picture.gradient.draw(Self.size(3, 3))

        let result = try source.resized(to: Self.size(3_000, 200), pool: pool)

        #expect(result[0, 0].x < result[1_500, 100].x && result[1_500, 100].x < result[2_999, 199].x)
        #expect(pool.statistics.freeBytes <= 4_096, "scratch memory was \(pool.statistics.freeBytes) bytes")
        #expect(pool.statistics.allocated == 2)
    }

    @Test("Memory for the work does not grow with the height", .capability("COD-35"), arguments: [2_000, 8_000])
    func boundedMemory(height: Int) throws {
        let pool = PixelBufferPool(limit: .megabytes(64))
        var resampler = try RowResampler(from: Self.size(100, height), to: Self.size(10, 10), pool: pool)
        let row = [UInt8](repeating: 9, count: 400)
        for _ in 0..<height { row.withUnsafeBytes { resampler.push($0.baseAddress!) } }
        let result = resampler.finish()
        #expect(result[9, 9] == SIMD4(9, 9, 9, 9))
        #expect(pool.statistics.freeBytes < 32_768, "scratch memory was \(pool.statistics.freeBytes) bytes")
    }

    @Test("The same size is the same buffer, and rows of the same size come out as they went in", .capability("COD-36"))
    func identity() throws {
        let source = try Picture.noise.draw(Self.size(37, 29))
        #expect(try source.resized(to: source.size) === source)
        var resampler = try RowResampler(from: source.size, to: source.size)
        push(source, to: &resampler)
        #expect(resampler.finish() == source)
    }

    @Test("Color never exceeds alpha at hard edges of transparent shapes", arguments: cases)
    func premultiplied(sizes: (PixelSize, PixelSize)) throws {
        let source = try PixelBuffer.drawn(sizes.0) { x, y in
            (x / 5 + y / 3) % 2 == 0 ? SIMD4(0, 0, 0, 0) : SIMD4(255, 255, 0, 255)
        }
        let result = try source.resized(to: sizes.1)
        for y in 0..<result.height {
            for x in 0..<result.width {
                let pixel = result[x, y]
                #expect(pixel.x <= pixel.w && pixel.y <= pixel.w && pixel.z <= pixel.w)
            }
        }
    }

    @Test("Sizes without pixels and sides beyond all memory are refused", arguments: [0, -1, 1 << 23, 1 << 40, .max])
    func refusedSizes(side: Int) throws {
        for bad in [Self.size(side, 5), Self.size(5, side)] {
            for (from, to) in [(bad, Self.size(2, 2)), (Self.size(2, 2), bad)] {
                do {
                    let resampler = try RowResampler(from: from, to: to)
                    Issue.record("\(from) to \(to) was taken")
                    _ = consume resampler
                } catch {
                    #expect(error.code == .limitExceeded)
                }
            }
        }
    }

    @Test(
        "Weights of a sample add up to one, and leave the sums room",
        arguments: [1, 2, 3, 5, 16, 17, 99, 1_000], [1, 2, 3, 7, 16, 50, 333, 4_000])
    func weights(source: Int, target: Int) {
        for (group, maximumBits) in [(2, 22), (8, 16)] {
            let weights = FilterWeights(source: source, target: target, group: group, maximumBits: maximumBits)
            #expect(weights.spans.count == target && weights.bits <= maximumBits)
            for span in weights.spans {
                let taps = weights.weights[span.offset..<span.offset + span.count].map { Int($0) }
                #expect(taps.reduce(0, +) == 1 << weights.bits)
                // See `FilterWeights.largestSum`.
                #expect(taps.reduce(0) { $0 + abs($1) } * 10 < 17 << weights.bits)
                #expect(span.first >= 0 && span.first % 2 == 0 && span.count % group == 0)
                #expect(span.end < source + group + 1)
            }
        }
    }

    static func size(_ width: Int, _ height: Int) -> PixelSize { PixelSize(width: width, height: height) }

    /// Hands over rows in a buffer that is overwritten after each, as coders do.
    private func push(_ source: PixelBuffer, to resampler: inout RowResampler) {
        var scratch = [UInt8](repeating: 0, count: source.width * 4)
        for y in 0..<source.height {
            source.withRow(y) { scratch.replaceSubrange(0..., with: $0) }
            scratch.withUnsafeBytes { resampler.push($0.baseAddress!) }
            for index in scratch.indices { scratch[index] = 0xAA }
        }
    }
}

/// Test pictures, drawn the same each time.
enum Picture: CaseIterable {
    case noise, gradient, edges

    func draw(_ size: PixelSize) throws -> PixelBuffer {
        var random = SplitMix(state: UInt64(size.width * 1_000 + size.height))
        return try .drawn(size) { x, y in
            switch self {
            case .noise:
                let bits = random.next()
                let alpha = UInt8(truncatingIfNeeded: bits >> 24)
                let color = SIMD4<UInt8>(
                    UInt8(truncatingIfNeeded: bits), UInt8(truncatingIfNeeded: bits >> 8),
                    UInt8(truncatingIfNeeded: bits >> 16), alpha)
                return pointwiseMin(color, SIMD4(repeating: alpha))
            case .gradient:
                return SIMD4(
                    UInt8(255 * x / size.width), UInt8(255 * y / size.height),
                    UInt8(255 * (x + y) / (size.width + size.height)), 255)
            case .edges:
                return (x / 7 + y / 5) % 2 == 0 ? SIMD4(0, 0, 0, 255) : SIMD4(255, 255, 255, 255)
            }
        }
    }
}

/// The random numbers of Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension PixelBuffer {
    static func drawn(_ size: PixelSize, _ color: (Int, Int) -> SIMD4<UInt8>) throws -> PixelBuffer {
        let buffer = try MutablePixelBuffer(size: size)
        for y in 0..<size.height {
            let row = buffer.row(y)
            for x in 0..<size.width {
                row.storeBytes(of: color(x, y), toByteOffset: x * 4, as: SIMD4<UInt8>.self)
            }
        }
        return buffer.freeze()
    }
}

/// Lanczos as the book has it, in double precision and in no hurry.
enum Reference {
    static func resize(_ source: PixelBuffer, to target: PixelSize) -> [Double] {
        let columns = (0..<target.width).map { weights($0, source: source.width, target: target.width) }
        let rows = (0..<target.height).map { weights($0, source: source.height, target: target.height) }
        var wide: [SIMD4<Double>] = []
        for y in 0..<source.height {
            let pixels = (0..<source.width).map { SIMD4<Double>(source[$0, y]) }
            for taps in columns {
                wide.append(taps.reduce(into: SIMD4<Double>.zero) { $0 += pixels[$1.0] * $1.1 })
            }
        }
        var result: [Double] = []
        for taps in rows {
            for x in 0..<target.width {
                let sum = taps.reduce(into: SIMD4<Double>.zero) { $0 += wide[$1.0 * target.width + x] * $1.1 }
                let alpha = min(max(sum.w, 0), 255)
                result += [min(max(sum.x, 0), alpha), min(max(sum.y, 0), alpha), min(max(sum.z, 0), alpha), alpha]
            }
        }
        return result
    }

    static func weights(_ index: Int, source: Int, target: Int) -> [(Int, Double)] {
        let scale = Double(source) / Double(target)
        let stretch = max(1, scale)
        let center = (Double(index) + 0.5) * scale - 0.5
        let near = max(0, Int(center - 3 * stretch) - 1)...min(source - 1, Int(center + 3 * stretch) + 1)
        let taps = near.map { ($0, lanczos((Double($0) - center) / stretch)) }
        let sum = taps.reduce(0) { $0 + $1.1 }
        return taps.map { ($0.0, $0.1 / sum) }
    }

    private static func lanczos(_ x: Double) -> Double {
        if x == 0 { return 1 }
        if abs(x) >= 3 { return 0 }
        return (sin(.pi * x) / (.pi * x)) * (sin(.pi * x / 3) / (.pi * x / 3))
    }
}

/// How far pixels are from exact ones.
struct Difference: CustomStringConvertible {
    var largest = 0.0
    var psnr = Double.infinity

    init(_ pixels: PixelBuffer, _ exact: [Double]) {
        var squares = 0.0
        for y in 0..<pixels.height {
            for x in 0..<pixels.width {
                for component in 0..<4 {
                    let value = Double(pixels[x, y][component])
                    let difference = abs(value - exact[(y * pixels.width + x) * 4 + component])
                    largest = max(largest, difference)
                    squares += difference * difference
                }
            }
        }
        if squares > 0 { psnr = 10 * log10(255 * 255 * Double(exact.count) / squares) }
    }

    var description: String { "largest difference \(largest), PSNR \(psnr) dB" }
}
