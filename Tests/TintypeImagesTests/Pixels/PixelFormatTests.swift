import Foundation
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

@Suite("Pixels of more than 8 bits", .timeLimited)
struct PixelFormatTests {
    private let deepFormats: [PixelFormat] = [.rgba16, .rgbaFloat16]

    @Test("16 bits to 8 is round(v × 255 / 65535), and 8 bits to 16 and back changes nothing", .capability("COD-52"))
    func integers() throws {
        let all = try PixelBuffer.drawnDeep(PixelSize(width: 256, height: 256), .rgba16) { x, y in
            SIMD4(repeating: UInt16(y * 256 + x))
        }
        let bytes = try all.converted(to: .rgba8)
        for y in 0..<256 {
            for x in 0..<256 {
                let exact = UInt8((Double(y * 256 + x) * 255 / 65_535).rounded())
                #expect(bytes[x, y] == SIMD4(repeating: exact))
            }
        }
        let noise = try Picture.noise.draw(PixelSize(width: 33, height: 9))
        #expect(try noise.converted(to: .rgba16).converted(to: .rgba8) == noise)
        #expect(try noise.converted(to: .rgbaFloat16).converted(to: .rgba8) == noise)
        #expect(try noise.converted(to: .rgba8) === noise)
    }

    @Test(
        "What is beyond the range is cut off on the way to integers, and color stays within alpha",
        arguments: [PixelFormat.rgba8, .rgba16])
    func cut(target: PixelFormat) throws {
        let values: [SIMD4<Float16>] = [
            [5, -1, 0.5, 1], [.nan, .infinity, -.infinity, 1], [0.75, 0.25, 0.5, 0.5], [0, 0, 0, .nan], [1, 1, 1, 7],
        ]
        let source = try PixelBuffer.drawnDeep(PixelSize(width: values.count, height: 1), .rgbaFloat16) { x, _ in
            SIMD4(values[x].x.bitPattern, values[x].y.bitPattern, values[x].z.bitPattern, values[x].w.bitPattern)
        }
        let result = try source.converted(to: target)
        let expected: [SIMD4<Float>] = [
            [1, 0, 0.5, 1], [0, 1, 0, 1], [0.5, 0.25, 0.5, 0.5], [0, 0, 0, 0], [1, 1, 1, 1],
        ]
        for (x, exact) in expected.enumerated() {
            let difference = result.component(x: x, y: 0) - exact
            #expect(difference.max() < 0.003 && difference.min() > -0.003, "\(x)")
        }
    }

    @Test("Deep pixels are turned by all orientations", .capability("COD-36"), arguments: Orientation.allCases)
    func oriented(orientation: Orientation) throws {
        let bytes = try Picture.noise.draw(PixelSize(width: 70, height: 37))
        for format in deepFormats {
            let turned = try bytes.converted(to: format).oriented(orientation)
            #expect(try turned == bytes.oriented(orientation).converted(to: format))
        }
    }

    @Test("A sink takes rows of the format, at their size, shrunk and turned, and rows that never come are transparent")
    func sink() throws {
        let stored = PixelSize(width: 40, height: 30)
        for format in deepFormats {
            let source = try Picture.gradient.draw(stored).converted(to: format)
            for output in [stored.transposed, PixelSize(width: 10, height: 13)] {
                var sink = try RowSink(
                    stored: stored, output: output, orientation: .right, format: format, context: ProcessingContext())
                for y in 0..<20 {
                    source.withRow(y) {
                        if let row = $0.baseAddress { sink.rowToFill().copyMemory(from: row, byteCount: $0.count) }
                    }
                    try sink.commitRow()
                }
                #expect(try sink.snapshot().format == format)
                let pixels = try sink.finish()
                #expect(pixels.size == output && pixels.format == format)
                // Turned clockwise, what was missing below is on the left.
                #expect(pixels.component(x: 0, y: 3) == .zero)
                #expect(pixels.component(x: output.width - 1, y: 3).w == 1)
            }
        }
    }

    @Test("Limits and the cost of an image count the bytes of the format")
    func bytes() throws {
        var limits = DecodeLimits()
        limits.maximumBytes = .bytes(100 * 100 * 4)
        let size = PixelSize(width: 100, height: 100)
        try limits.check(size: size, output: size)
        #expect(throws: ImageError.self) { try limits.check(size: size, output: size, bytesPerPixel: 8) }
        let deep = try MutablePixelBuffer(size: size, format: .rgba16, cleared: true).freeze()
        #expect(Image(pixels: deep).memoryCost == 832 * 100)
        var options = DecodeOptions()
        options.maximumBytes = .bytes(100 * 100 * 4)
        #expect(options.outputSize(for: size) == size)
        #expect(options.outputSize(for: size, bytesPerPixel: 8).pixelCount * 8 <= 40_000)
    }

    @Test("decodeToHDR keeps depth and range", .capability("COD-18"))
    func options() {
        var options = DecodeOptions()
        #expect(options.pixelFormat(bitsPerComponent: 16) == .rgba8)
        #expect(options.pixelFormat(bitsPerComponent: 10, isHighDynamicRange: true) == .rgba8)
        options.decodeToHDR = true
        #expect(options.pixelFormat(bitsPerComponent: 8) == .rgba8)
        #expect(options.pixelFormat(bitsPerComponent: 9) == .rgba16)
        #expect(options.pixelFormat(bitsPerComponent: 10, isHighDynamicRange: true) == .rgbaFloat16)
        options.keepsColorSpace = true
        #expect(options.pixelFormat(bitsPerComponent: 10, isHighDynamicRange: true) == .rgba16)
    }
}
