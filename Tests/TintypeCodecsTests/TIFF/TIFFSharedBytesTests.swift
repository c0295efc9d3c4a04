#if TIFF
import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("TIFF whose parts share their bytes", .timeLimited)
struct TIFFSharedBytesTests {
    private typealias Build = ByteBuilder

    /// A page of a column of grays, with a strip for each row.
    /// - Parameters:
    ///   - strip: The bytes of all strips, and of further fields.
    ///   - fields: Further fields, as tag, type, count, and value.
    private func file(rows: Int, compression: Int, strip: Data, _ fields: [[Int]]) -> Data {
        let places = Build.repeated(Build.little(8, 4), rows) + Build.repeated(Build.little(strip.count, 4), rows)
        let start = 8 + strip.count
        let isSingle = rows == 1
        let entries: [[Int]] =
            [
                [256, 3, 1, 1], [257, 3, 1, rows], [258, 3, 1, 8], [259, 3, 1, compression], [262, 3, 1, 1],
                [273, 4, rows, isSingle ? 8 : start], [277, 3, 1, 1], [278, 3, 1, 1],
                [279, 4, rows, isSingle ? strip.count : start + 4 * rows],
            ] + fields
        let sorted = entries.sorted { $0[0] < $1[0] }
        let directory = sorted.reduce(into: Build.little(entries.count, 2)) { directory, entry in
            directory += Build.little(entry[0], 2) + Build.little(entry[1], 2)
            directory += Build.little(entry[2], 4) + Build.little(entry[3], 4)
        }
        return Data("II*\0".utf8) + Build.little(start + places.count, 4) + strip + places + directory
            + Build.little(0, 4)
    }

    private func reason(_ data: Data) -> String? {
        do throws(ImageError) { _ = try TIFFCoder().decode(data) } catch { return error.reason }
        return nil
    }

    @Test("Fields that share their bytes are damage, before libtiff copies these for each", .capability("3.1"))
    func fields() {
        func file(_ fields: Int) -> Data {
            self.file(
                rows: 1, compression: 1, strip: Data(repeating: 7, count: 10_000),
                (0..<fields).map { [40_000 + $0, 1, 10_000, 8] })
        }
        #expect(reason(file(100)) == nil)
        #expect(reason(file(110))?.contains("share their bytes") == true)
    }

    @Test("Strips that share many bytes are damage where each would take time for all of them", .capability("3.1"))
    func strips() throws {
        // The codes of LZW for a gray, with the bits of each byte in the other order; then bytes that aren't decoded.
        let codes = Data([0x01, 0x80, 0x07, 0x04])
        for (padding, isRefused) in [(0, false), (20_000, false), (200_000, true)] {
            let data = file(rows: 100, compression: 5, strip: codes + Data(count: padding), [[266, 3, 1, 2]])
            #expect((reason(data)?.contains("share their bytes") ?? false) == isRefused)
        }
        // Blocks of Deflate that are stored and empty, before the one that has the gray, and its checksum.
        for (blocks, isRefused) in [(4_000, false), (40_000, true)] {
            let empty = Build.repeated(Data([0, 0, 0, 0xFF, 0xFF]), blocks)
            let strip = Data([0x78, 1]) + empty + Data([1, 1, 0, 0xFE, 0xFF, 7, 0, 8, 0, 8])
            let data = file(rows: 100, compression: 8, strip: strip, [])
            #expect((reason(data)?.contains("share their bytes") ?? false) == isRefused)
            if !isRefused { #expect(try TIFFCoder().decode(data).pixels[0, 99].x == 7) }
        }
        let harmless = file(rows: 100, compression: 5, strip: codes + Data(count: 20_000), [[266, 3, 1, 2]])
        let image = try TIFFCoder().decode(harmless)
        #expect(image.size == PixelSize(width: 1, height: 100) && image.pixels[0, 99].x == 7)
    }
}
#endif
