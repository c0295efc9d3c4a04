#if AVIF
import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

/// Files that state many items, which libavif would compare with each other.
@Suite("Numbers of items of AVIF", .timeLimited)
struct AVIFItemCountTests {
    private typealias Build = ByteBuilder

    private func refusal(_ boxes: Data) -> ImageError.Code? {
        let data = Build.box("ftyp", Data("avif\0\0\0\0avifmif1".utf8)) + boxes
        do throws(ImageError) { _ = try AVIFCoder().info(of: data, context: ProcessingContext()) } catch {
            return error.code
        }
        return nil
    }

    /// Boxes that state a number of items, each in another way.
    private func statements(_ count: Int) -> [Data] {
        let reference = Build.box("dimg", Build.big(1, 2), Build.big(count - 1, 2), Data(count: (count - 1) * 2))
        let single = Build.box("cdsc", Build.big(1, 2), Build.big(1, 2), Build.big(2, 2))
        let half = Build.box("ipma", Build.big(0), Build.big(count / 2))
        return [
            Build.box("iinf", Build.big(0), Build.big(count, 2)),
            Build.box("iinf", Build.big(1 << 24), Build.big(count)),
            Build.box("iloc", Build.big(0), Build.big(0x4400, 2), Build.big(count, 2)),
            Build.box("iloc", Build.big(2 << 24), Build.big(0x4400, 2), Build.big(count)),
            Build.box("iref", Build.big(0), reference),
            Build.box("iref", Build.big(0), Build.repeated(single, count / 2)),
            Build.box("iprp", Build.box("ipco"), half, half),
        ]
    }

    @Test("A file that describes more than 1,000 items is over a limit, before libavif reads it")
    func limit() {
        for (count, isOver) in [(1_000, false), (1_002, true)] {
            for statement in statements(count) {
                // Also before a box that is damaged.
                for damage in [Data(), Build.big(7) + Data("free".utf8)] {
                    let meta = Build.box("meta", Build.big(0), statement, damage)
                    let movie = Build.box("moov", Build.box("trak", meta))
                    for boxes in [meta, movie] {
                        let code = refusal(boxes)
                        #expect(code != nil && (code == .limitExceeded) == isOver, "\(count)")
                    }
                }
            }
        }
    }

    @Test("A file with very many boxes is over a limit")
    func boxes() {
        #expect(refusal(Build.repeated(Build.box("free"), 10_000)) == .limitExceeded)
    }

    @Test("A matrix that can't be undone is an error", arguments: [3, 10, 11, 13, 14, 255] as [UInt8])
    func matrices(matrix: UInt8) throws {
        var data = try AVIFCoder().encode(try RasterSamples.gradient(32, 32), as: .avif, options: EncodeOptions())
        let color = try #require(data.range(of: Data("nclx".utf8))).upperBound
        // Behind the primaries and the transfer, of two bytes each.
        data[color + 5] = matrix
        expectCode(.corruptImage) { try AVIFCoder().decode(data) }
    }
}
#endif
