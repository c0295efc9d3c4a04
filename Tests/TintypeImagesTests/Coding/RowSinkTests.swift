import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeImages

@Suite("Rows become upright pictures", .timeLimited)
struct RowSinkTests {
    /// Pixels of which no two are alike.
    private func pixel(_ x: Int, _ y: Int) -> UInt32 { UInt32(truncatingIfNeeded: (y << 8 | x) &* 2_654_435_761) }

    private func fill(_ row: UnsafeMutableRawPointer, _ y: Int, _ width: Int, _ format: PixelFormat = .rgba8) {
        let words = format.bytesPerPixel / 4
        for x in 0..<width * words { row.storeBytes(of: pixel(x, y), toByteOffset: 4 * x, as: UInt32.self) }
    }

    @Test(
        "Rows that are turned as they come are those of the picture that is turned when it is there",
        .capability("COD-36"),
        arguments: Orientation.allCases, [PixelFormat.rgba8, .rgba16])
    func turned(orientation: Orientation, format: PixelFormat) throws {
        // A picture of before, so that memory is not what it should become by chance.
        let pool = PixelBufferPool(limit: .megabytes(1))
        for size in [(1, 1), (3, 1), (1, 40), (40, 16), (33, 17), (16, 48), (65, 31)] {
            let stored = PixelSize(width: size.0, height: size.1)
            let context = ProcessingContext(pool: pool)
            var sink = try RowSink(
                stored: stored, output: orientation.display(stored), orientation: orientation, format: format,
                context: context)
            let reference = try MutablePixelBuffer(size: stored, format: format, cleared: true)
            for y in 0..<stored.height {
                if y % 7 == 3 {
                    let sofar = try reference.snapshot(rows: y).oriented(orientation)
                    #expect(try sink.snapshot() == sofar, "\(stored), \(y) rows")
                }
                fill(sink.rowToFill(), y, stored.width, format)
                fill(reference.row(y), y, stored.width, format)
                try sink.commitRow()
                #expect(sink.rows == y + 1)
            }
            let whole = try reference.freeze().oriented(orientation)
            #expect(try sink.snapshot() == whole)
            #expect(try sink.finish() == whole)
        }
    }

    @Test(
        "Rows that never came are transparent, wherever they stand", .capability("3.8"),
        arguments: Orientation.allCases,
        [PixelFormat.rgba8, .rgba16])
    func missing(orientation: Orientation, format: PixelFormat) throws {
        let stored = PixelSize(width: 19, height: 37)
        for rows in [0, 5, 16, 20] {
            var sink = try RowSink(
                stored: stored, output: orientation.display(stored), orientation: orientation,
                format: format, context: ProcessingContext())
            let reference = try MutablePixelBuffer(size: stored, format: format, cleared: true)
            for y in 0..<rows {
                fill(sink.rowToFill(), y, stored.width, format)
                fill(reference.row(y), y, stored.width, format)
                try sink.commitRow()
            }
            let wanted = try reference.freeze().oriented(orientation)
            #expect(try sink.finish() == wanted)
        }
    }

    @Test("Turning takes a few rows beyond the upright picture", .capability("COD-35"))
    func memory() throws {
        let pool = PixelBufferPool(limit: .megabytes(64))
        let stored = PixelSize(width: 1_000, height: 1_000)
        var sink = try RowSink(
            stored: stored, output: stored, orientation: .right, context: ProcessingContext(pool: pool))
        for y in 0..<stored.height {
            fill(sink.rowToFill(), y, stored.width)
            try sink.commitRow()
        }
        _ = try sink.finish()
        #expect(pool.statistics.freeBytes < 4_000_000 * 5 / 4 + 200_000)
    }
}
