import CKernels
import TestSupport
import Testing
import TintypeTesting

@testable import TintypeCodecs

@Suite("Kernels for rows", .timeLimited)
struct RowKernelsTests {
    #if AVIF || HEIF
    @Test(
        "Luma and chroma become the pixels of a plain loop, with every instruction set, matrix, range, and width",
        arguments: [8, 10, 12])
    func planes(bits: Int) {
        var random = SeededRandom(seed: UInt64(bits))
        for matrix in [0, 1, 2, 4, 7, 8, 9] {
            for isFullRange in [false, true] {
                let coding = ColorCoding(codePoints: .sRGB, matrix: matrix, isFullRange: isFullRange)
                let matrix = YCbCrMatrix(coding, bits: bits)
                for kernels in RowKernels.available {
                    for width in 1...70 {
                        if bits == 8 {
                            check(kernels.bytes, matrix, UInt8.max, width, &random)
                        } else {
                            // Numbers that the bits don't have, too.
                            check(kernels.words, matrix, UInt16.max, width, &random)
                        }
                    }
                }
            }
        }
    }

    private func check<Number: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ kernels: crows_planes, _ matrix: YCbCrMatrix, _ largest: Number, _ width: Int, _ random: inout SeededRandom
    ) {
        func numbers(_ count: Int) -> [Number] {
            (0..<count).map { _ in Number.random(in: 0...largest, using: &random) }
        }
        let shared = (width + 1) / 2
        let (near, far, full, luma) = (numbers(shared), numbers(shared), numbers(width), numbers(width))
        let between = near.indices.map { 3 * Int32(near[$0]) + Int32(far[$0]) }
        let enlarged = (0..<2 * shared).map { x in
            let next = min(max(x % 2 == 0 ? x / 2 - 1 : x / 2 + 1, 0), shared - 1)
            return 3 * between[x / 2] + between[next] - 16 * matrix.gray
        }
        let different = full.map { 16 * Int32($0) - 16 * matrix.gray }
        func component(_ weights: crows_weights, _ x: Int) -> Number {
            let y = Int32(luma[x]) - matrix.black
            let sum =
                weights.luma &* y &+ weights.blue &* enlarged[x] &+ weights.red &* different[x] &+ 32_768
            return Number(min(max(sum >> 16, 0), matrix.maximum))
        }
        let pixels = (0..<width).flatMap { x in
            [
                component(matrix.red, x), component(matrix.green, x), component(matrix.blue, x),
                Number(matrix.maximum),
            ]
        }

        // The last number shows that none is written beyond the end.
        var blue = [Int32](repeating: 7, count: 2 * shared + 1)
        var room = [Int32](repeating: 0, count: shared + 2)
        kernels.enlarge(&blue, &room, near, far, matrix.gray, shared)
        #expect(blue == enlarged + [7], "\(width)")
        var red = [Int32](repeating: 7, count: width + 1)
        kernels.subtract(&red, full, matrix.gray, width)
        #expect(red == different + [7], "\(width)")
        var row = [Number](repeating: 7, count: width * 4 + 1)
        kernels.combine(&row, luma, blue, red, matrix, width)
        #expect(row == pixels + [7], "\(width)")
    }
    #endif

    @Test("Numbers of other depths become the nearest, with every instruction set", arguments: 8...16)
    func depths(bits: Int) {
        let last = (1 << bits) - 1
        let numbers = (0...UInt16.max).map { $0 }
        func nearest(_ maximum: Int) -> [UInt16] {
            numbers.map { UInt16((min(Int($0), last) * maximum + last / 2) / last) }
        }
        for kernels in RowKernels.available {
            for maximum in [255, 4_095, 65_535] {
                var row = [UInt16](repeating: 0, count: numbers.count)
                kernels.scale(&row, numbers, UInt32(bits), UInt32(maximum), numbers.count)
                #expect(row == nearest(maximum))
                guard bits == 8 else { continue }
                var deep = [UInt16](repeating: 0, count: 256)
                kernels.deepen(&deep, Array(0...UInt8.max), UInt32(maximum), 256)
                #expect(deep == Array(row.prefix(256)))
            }
            var bytes = [UInt8](repeating: 0, count: numbers.count)
            kernels.narrow(&bytes, numbers, UInt32(bits), numbers.count)
            #expect(bytes.map(UInt16.init) == nearest(255))
        }
    }

    @Test("Pixels of three numbers become opaque ones, and bytes become three again, with every instruction set")
    func threeNumbers() {
        var random = SeededRandom(seed: 3)
        for count in 1...70 {
            let source = (0..<count * 3).map { _ in UInt8.random(in: 0...255, using: &random) }
            let words = source.map { UInt16($0) * 256 + 3 }
            for kernels in RowKernels.available {
                for isReversed in [false, true] {
                    let expected = (0..<count).flatMap { x -> [UInt8] in
                        let color = source[x * 3..<x * 3 + 3]
                        return (isReversed ? color.reversed() : Array(color)) + [255]
                    }
                    var pixels = [UInt8](repeating: 7, count: count * 4 + 1)
                    kernels.expand(&pixels, source, isReversed, count)
                    #expect(pixels == expected + [7], "\(count)")
                    var bytes = [UInt8](repeating: 7, count: count * 3 + 1)
                    kernels.contract(&bytes, expected, isReversed, count)
                    #expect(bytes == source + [7], "\(count)")
                }
                var pixels = [UInt16](repeating: 7, count: count * 4 + 1)
                kernels.expand_words(&pixels, words, count)
                let expected = (0..<count).flatMap { x in words[x * 3..<x * 3 + 3] + [65_535] }
                #expect(pixels == expected + [7], "\(count)")
            }
        }
    }
}
