#if HEIF
import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

/// The transformative properties, which apply one after the other in the order of the item's list (ISO/IEC 23008-12, section 6.5).
@Suite("HEIF orientation", .timeLimited)
struct HEIFOrientationTests {
    private enum Step { case crop, turn(UInt8), mirror(leftRight: Bool) }

    private let pictures: HEVCTestEncoder.Output
    private var whole: [[SIMD4<UInt8>]] = []

    init() throws {
        pictures = try HEVCTestEncoder(width: 48, height: 32, layout: .gray)
            .encode(frames: 1) { _, _, x, y in 16 + x * 4 + y }
        whole = Self.rows(try HEIFCoder().decode(file([], exif: nil)).pixels)
    }

    private func file(_ steps: [Step], exif orientation: UInt8?) -> Data {
        let properties = steps.map { step in
            switch step {
            case .crop: HEIFTestStill.aperture(20, 12, right: 2, down: -3)
            case .turn(let quarters): HEIFTestStill.rotation(quarters)
            case .mirror(let leftRight): HEIFTestStill.mirror(leftRight: leftRight)
            }
        }
        let item = HEIFTestStill.Item(
            data: pictures.samples[0].data,
            properties: [HEIFTestSequence.configuration(pictures.sets), HEIFTestStill.size(48, 32)] + properties)
        guard let orientation else { return HEIFTestStill(items: [item]).data }
        let block = Data([0, 0, 0, 0]) + Data("MM\0*\0\0\0\u{8}\0\u{1}\u{1}\u{12}\0\u{3}\0\0\0\u{1}\0".utf8)
        let exif = HEIFTestStill.Item(
            type: "Exif", data: block + Data([orientation, 0, 0, 0, 0, 0, 0]), properties: [],
            references: [("cdsc", [1])])
        return HEIFTestStill(items: [item, exif]).data
    }

    private static func rows(_ pixels: PixelBuffer) -> [[SIMD4<UInt8>]] {
        (0..<pixels.height).map { y in (0..<pixels.width).map { x in pixels[x, y] } }
    }

    /// What the properties make of the whole picture, by the words of the standard.
    private func expected(_ steps: [Step]) -> [[SIMD4<UInt8>]] {
        steps.reduce(whole) { rows, step in
            let (width, height) = (rows[0].count, rows.count)
            switch step {
            case .crop:
                // The middle of the part lies 2 pixels to the right of the picture's, and 3 above.
                let (x, y) = ((width - 20) / 2 + 2, (height - 12) / 2 - 3)
                return rows[y..<y + 12].map { Array($0[x..<x + 20]) }
            case .turn(let quarters):
                return (0..<quarters).reduce(rows) { rows, _ in
                    // Counterclockwise: the last column becomes the first row.
                    rows[0].indices.reversed().map { column in rows.map { $0[column] } }
                }
            case .mirror(leftRight: true): return rows.map { $0.reversed() }
            case .mirror(leftRight: false): return rows.reversed()
            }
        }
    }

    private static let combinations: [(crops: Bool, quarters: UInt8, leftRight: Bool?)] = [false, true].flatMap {
        crops in
        (UInt8(0)..<4).flatMap { quarters in [nil, false, true].map { (crops, quarters, $0) } }
    }

    @Test(
        "Cropping, rotation, and mirroring do what the format says in all 24 combinations, whatever Exif says",
        arguments: [nil, 1, 3, 6, 8])
    func combinations(exif: UInt8?) throws {
        for (crops, quarters, leftRight) in Self.combinations {
            let steps =
                (crops ? [Step.crop] : []) + [.turn(quarters)] + (leftRight.map { [.mirror(leftRight: $0)] } ?? [])
            let image = try HEIFCoder().decode(file(steps, exif: exif))
            #expect(Self.rows(image.pixels) == expected(steps), "\(steps)")
            #expect((image.metadata.exif != nil) == (exif != nil))
        }
    }

    @Test("They apply in the order in which they are listed")
    func orders() throws {
        for quarters in UInt8(0)..<4 {
            for leftRight in [false, true] {
                let steps = [Step.crop, .turn(quarters), .mirror(leftRight: leftRight)]
                for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                    let steps = order.map { steps[$0] }
                    let image = try HEIFCoder().decode(file(steps, exif: nil))
                    #expect(Self.rows(image.pixels) == expected(steps), "\(steps)")
                }
            }
        }
    }
}
#endif
