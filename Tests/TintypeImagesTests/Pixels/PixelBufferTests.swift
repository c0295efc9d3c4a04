import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

@Suite("Pixel buffers and their pool", .timeLimited)
struct PixelBufferTests {
    @Test("Rows begin at multiples of 64 bytes", .capability("COD-38"), arguments: [1, 15, 16, 17, 1_000])
    func alignment(width: Int) throws {
        let buffer = try MutablePixelBuffer(size: PixelSize(width: width, height: 3)).freeze()
        #expect(buffer.bytesPerRow % 64 == 0 && buffer.bytesPerRow >= width * 4)
        buffer.withUnsafeBytes { #expect(Int(bitPattern: $0.baseAddress) % 64 == 0) }
    }

    @Test("Memory that is let go of is handed out again, up to the limit")
    func reuse() throws {
        let pool = PixelBufferPool(limit: .megabytes(1))
        let size = PixelSize(width: 256, height: 256)
        for _ in 0..<10 { _ = try MutablePixelBuffer(size: size, pool: pool).freeze() }
        #expect(pool.statistics.allocated == 1)
        #expect(pool.statistics.reused == 9)
        let many = try (0..<10).map { _ in try MutablePixelBuffer(size: size, pool: pool).freeze() }
        #expect(many.count == 10)
        withExtendedLifetime(many) {}
        #expect(pool.statistics.freeBytes <= 1_000_000)
        pool.drain()
        #expect(pool.statistics.freeBytes == 0)
    }

    @Test("A full pool gives up the sizes that were released longest ago, unless that makes no room")
    func otherSizes() throws {
        let pool = PixelBufferPool(limit: .megabytes(1))
        func use(_ side: (Int, Int), _ count: Int = 1) throws {
            let size = PixelSize(width: side.0, height: side.1)
            let buffers = try (0..<count).map { _ in try MutablePixelBuffer(size: size, pool: pool).freeze() }
            withExtendedLifetime(buffers) {}
        }
        let (small, medium, large) = ((256, 256), (320, 256), (512, 256))
        for size in [small, medium, large] { try use(size) }
        #expect(pool.statistics.allocated == 3 && pool.statistics.freeBytes == (320 + 512) * 256 * 4)
        for size in [medium, large] { try use(size) }
        #expect(pool.statistics.allocated == 3)
        try use(small)
        #expect(pool.statistics.allocated == 4 && pool.statistics.freeBytes == (256 + 512) * 256 * 4)
        try use((1_024, 256))
        try use(large, 2)
        #expect(pool.statistics.allocated == 6 && pool.statistics.freeBytes == (256 + 512) * 256 * 4)
        for size in [small, large] { try use(size) }
        #expect(pool.statistics.allocated == 6)
    }

    @Test(
        "A size that cannot be is refused",
        arguments: [(0, 5), (5, -1), (Int.max, 1), (1 << 39, 1 << 39), (1, Int.max)])
    func impossible(width: Int, height: Int) {
        let error = #expect(throws: ImageError.self) {
            _ = try MutablePixelBuffer(size: PixelSize(width: width, height: height)).freeze()
        }
        #expect(error?.code == .limitExceeded)
    }

    @Test(
        "A new buffer shows nothing of the image before it",
        arguments: [PixelSize(width: 2_000, height: 2_000), PixelSize(width: 30, height: 20)])
    func reusedMemoryIsCleared(size: PixelSize) throws {
        let pool = PixelBufferPool(limit: .megabytes(64))
        func fill() throws {
            var first = try MutablePixelBuffer(size: size, cleared: false, pool: pool)
            first.withUnsafeMutableBytes { bytes in _ = bytes.initializeMemory(as: UInt8.self, repeating: 9) }
            _ = consume first
        }
        try fill()
        let second = try MutablePixelBuffer(size: size, pool: pool).freeze()
        #expect(pool.statistics.reused == 1)
        second.withUnsafeBytes { bytes in #expect(bytes.allSatisfy { $0 == 0 }) }
        try fill()
        let bytes = second.byteCount
        let scratch = try #require(ScratchBytes(bytes, pool: pool))
        #expect(UnsafeRawBufferPointer(start: scratch.base, count: bytes).allSatisfy { $0 == 0 })
    }

    @Test("A snapshot does not change with what is still written")
    func snapshot() throws {
        var buffer = try MutablePixelBuffer(size: PixelSize(width: 4, height: 4), cleared: true)
        let before = try buffer.snapshot()
        buffer.withUnsafeMutableBytes { bytes in _ = bytes.initializeMemory(as: UInt8.self, repeating: 255) }
        #expect(before[0, 0] == .zero)
        let after = buffer.freeze()
        #expect(after[3, 3] == SIMD4(repeating: 255))
        #expect(before != after)
    }
}
