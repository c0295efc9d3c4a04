import CKernels
import Foundation
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

@Suite("Resampling of 16 bits and half precision", .timeLimited)
struct DeepResamplerTests {
    static let cases =
        ResamplerTests.cases + [
            (ResamplerTests.size(200, 3), ResamplerTests.size(20, 40)),
            (ResamplerTests.size(3, 200), ResamplerTests.size(40, 20)),
        ]

    @Test("16 bits: every component is within 1 of Lanczos in double precision", arguments: cases)
    func reference(sizes: (PixelSize, PixelSize)) throws {
        let source = try DeepPicture.noise(sizes.0)
        let result = try source.resized(to: sizes.1)
        #expect(result.format == .rgba16 && result.size == sizes.1)
        let expected = DeepReference.resize(source, to: sizes.1, limit: 65_535)
        var largest = 0.0
        for y in 0..<result.height {
            for x in 0..<result.width {
                let pixel = result.words(x, y)
                for component in 0..<4 {
                    let exact = expected[(y * result.width + x) * 4 + component]
                    largest = max(largest, abs(Double(pixel[component]) - exact))
                    #expect(pixel[component] <= pixel.w)
                }
            }
        }
        #expect(largest <= 1)
    }

    @Test(
        "Half precision: every component is within rounding of Lanczos, above white and below black too",
        arguments: cases)
    func halfReference(sizes: (PixelSize, PixelSize)) throws {
        let source = try DeepPicture.wide(sizes.0)
        let result = try source.resized(to: sizes.1)
        #expect(result.format == .rgbaFloat16)
        let expected = DeepReference.resize(source, to: sizes.1, limit: nil)
        for y in 0..<result.height {
            for x in 0..<result.width {
                let pixel = result.component(x: x, y: y)
                for component in 0..<3 {
                    let exact = expected[(y * result.width + x) * 4 + component]
                    #expect(abs(Double(pixel[component]) - exact) <= 0.0006 * max(1, abs(exact)))
                }
                #expect(pixel.w >= 0 && pixel.w <= 1)
            }
        }
    }

    @Test("One color stays that color", arguments: cases)
    func constant(sizes: (PixelSize, PixelSize)) throws {
        let color = SIMD4<UInt16>(1, 40_001, 65_534, 65_535)
        let flat = try PixelBuffer.drawnDeep(sizes.0, .rgba16) { _, _ in color }
        #expect(try flat.resized(to: sizes.1) == .drawnDeep(sizes.1, .rgba16) { _, _ in color })
        let bright = SIMD4<UInt16>(Float16(5.25).bitPattern, Float16(-0.5).bitPattern, 0, Float16(1).bitPattern)
        let glow = try PixelBuffer.drawnDeep(sizes.0, .rgbaFloat16) { _, _ in bright }
        #expect(try glow.resized(to: sizes.1) == .drawnDeep(sizes.1, .rgbaFloat16) { _, _ in bright })
    }

    @Test("All versions of the kernels make the same pixels", arguments: cases, [PixelFormat.rgba16, .rgbaFloat16])
    func versions(sizes: (PixelSize, PixelSize), format: PixelFormat) throws {
        let source = try format == .rgba16 ? DeepPicture.noise(sizes.0) : DeepPicture.wide(sizes.0)
        let expected = try source.resized(to: sizes.1)
        for kernels in DeepRowResampler.kernels {
            var resampler = try DeepRowResampler(from: sizes.0, to: sizes.1, format: format, kernels: kernels)
            for y in 0..<source.height { source.withRow(y) { if let row = $0.baseAddress { resampler.push(row) } } }
            #expect(resampler.finish() == expected)
        }
    }

    @Test("The work follows the pixels, not the product of the long sides")
    func crossedSides() throws {
        let color = SIMD4<UInt16>(1, 2, 3, 4)
        for (from, to) in [(100_000, 1), (1, 100_000)].map({ (ResamplerTests.size($0.0, $0.1), $0) }) {
            let line = try PixelBuffer.drawnDeep(from, .rgba16) { _, _ in color }
            let crossed = try line.resized(to: ResamplerTests.size(to.1, to.0))
            #expect(crossed.words(0, 0) == color && crossed.words(crossed.width - 1, crossed.height - 1) == color)
        }
    }

    @Test("Memory for the work does not grow with the height", .capability("COD-35"), arguments: [2_000, 8_000])
    func boundedMemory(height: Int) throws {
        let pool = PixelBufferPool(limit: .megabytes(64))
        var resampler = try DeepRowResampler(
            from: ResamplerTests.size(100, height), to: ResamplerTests.size(10, 10), format: .rgba16, pool: pool)
        let row = [UInt16](repeating: 9, count: 400)
        for _ in 0..<height { row.withUnsafeBytes { if let base = $0.baseAddress { resampler.push(base) } } }
        #expect(resampler.finish().words(9, 9) == SIMD4(9, 9, 9, 9))
        #expect(pool.statistics.freeBytes < 32_768)
    }

    @Test(
        "Every half-precision number comes back from single precision; others are rounded to the nearest, ties to even")
    func halfNumbers() throws {
        for kernels in DeepRowResampler.kernels {
            let halves = (0...UInt16.max).map { $0 }
            var floats = [Float](repeating: 0, count: halves.count)
            kernels.from_half(&floats, halves, halves.count)
            for (half, float) in zip(halves, floats) {
                let exact = Float(Float16(bitPattern: half))
                #expect(float.bitPattern == exact.bitPattern || exact.isNaN && float.isNaN, "\(half)")
            }
            var random = SplitMix(state: 7)
            var numbers = (0..<40_000).map { _ in Float(bitPattern: UInt32(truncatingIfNeeded: random.next())) }
            for step in 0..<2_000 {
                let part = Float(step) / 4_096
                numbers += [part * 0.000_06, 1 + part, 0, 0.5] as [Float]
            }
            numbers += [.nan, .infinity, -.infinity, .signalingNaN] as [Float]
            var packed = [UInt16](repeating: 0, count: numbers.count)
            kernels.to_half(&packed, numbers, numbers.count / 4)
            for (index, number) in numbers.enumerated() {
                let limits: ClosedRange<Float> = index % 4 == 3 ? 0...1 : -65_504...65_504
                let limited = number.isNaN ? 0 : min(max(number, limits.lowerBound), limits.upperBound)
                #expect(Float16(bitPattern: packed[index]) == Float16(limited), "\(number)")
            }
        }
    }
}

/// Deep pictures that tests draw.
enum DeepPicture {
    static func noise(_ size: PixelSize) throws -> PixelBuffer {
        var random = SplitMix(state: UInt64(size.width * 1_000 + size.height))
        return try .drawnDeep(size, .rgba16) { _, _ in
            let bits = random.next()
            let alpha = UInt16(truncatingIfNeeded: bits >> 48)
            let color = SIMD4<UInt16>(
                UInt16(truncatingIfNeeded: bits), UInt16(truncatingIfNeeded: bits >> 16),
                UInt16(truncatingIfNeeded: bits >> 32), alpha)
            return pointwiseMin(color, SIMD4(repeating: alpha))
        }
    }

    /// Opaque colors from -1 to 5.
    static func wide(_ size: PixelSize) throws -> PixelBuffer {
        var random = SplitMix(state: UInt64(size.width * 7 + size.height))
        return try .drawnDeep(size, .rgbaFloat16) { _, _ in
            func number() -> UInt16 { Float16(Float(random.next() % 6_000) / 1_000 - 1).bitPattern }
            return SIMD4(number(), number(), number(), Float16(1).bitPattern)
        }
    }
}

extension PixelBuffer {
    static func drawnDeep(
        _ size: PixelSize, _ format: PixelFormat, _ color: (Int, Int) -> SIMD4<UInt16>
    ) throws -> PixelBuffer {
        let buffer = try MutablePixelBuffer(size: size, format: format)
        for y in 0..<size.height {
            let row = buffer.row(y)
            for x in 0..<size.width {
                row.storeBytes(of: color(x, y), toByteOffset: x * 8, as: SIMD4<UInt16>.self)
            }
        }
        return buffer.freeze()
    }

    func words(_ x: Int, _ y: Int) -> SIMD4<UInt16> {
        withRow(y) { $0.loadUnaligned(fromByteOffset: x * 8, as: SIMD4<UInt16>.self) }
    }
}

/// Lanczos in double precision over deep pixels, by what the reference for 8 bits has.
enum DeepReference {
    static func resize(_ source: PixelBuffer, to target: PixelSize, limit: Double?) -> [Double] {
        let columns = (0..<target.width).map { Reference.weights($0, source: source.width, target: target.width) }
        let rows = (0..<target.height).map { Reference.weights($0, source: source.height, target: target.height) }
        func pixel(_ x: Int, _ y: Int) -> SIMD4<Double> {
            limit == nil ? SIMD4<Double>(source.component(x: x, y: y)) : SIMD4<Double>(source.words(x, y))
        }
        var wide: [SIMD4<Double>] = []
        for y in 0..<source.height {
            let pixels = (0..<source.width).map { pixel($0, y) }
            for taps in columns { wide.append(taps.reduce(into: .zero) { $0 += pixels[$1.0] * $1.1 }) }
        }
        var result: [Double] = []
        for taps in rows {
            for x in 0..<target.width {
                let sum = taps.reduce(into: SIMD4<Double>.zero) { $0 += wide[$1.0 * target.width + x] * $1.1 }
                guard let limit else {
                    result += [sum.x, sum.y, sum.z, sum.w]
                    continue
                }
                let alpha = min(max(sum.w, 0), limit)
                result += [min(max(sum.x, 0), alpha), min(max(sum.y, 0), alpha), min(max(sum.z, 0), alpha), alpha]
            }
        }
        return result
    }
}
