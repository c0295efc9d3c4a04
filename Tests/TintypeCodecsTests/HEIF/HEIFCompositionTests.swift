#if HEIF
import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

/// Images that are put together of others.
@Suite("HEIF compositions", .timeLimited)
struct HEIFCompositionTests {
    private func decode(
        _ items: [HEIFTestStill.Item], _ options: (inout DecodeOptions) -> Void = { _ in }
    ) throws -> Image {
        try HEIFCoder().decode(HEIFTestStill(items: items).data, options)
    }

    @Test("Images lie on a canvas in their order, also partly beside it, and the canvas has its color")
    func overlay() throws {
        let (red, green) = (
            try HEIFTestStill.picture(32, 32, [54, 99, 255]), try HEIFTestStill.picture(32, 32, [182, 30, 12])
        )
        let data = HEIFTestStill.overlay(
            background: [0, 0, 65_535, 65_535], 64, 48, at: [(-8, -8), (56, 40), (10, 10), (-500, 0)])
        let pixels = try decode([HEIFTestStill.derived("iovl", data, from: [2, 2, 3, 3]), red, green]).pixels
        #expect(pixels.size == PixelSize(width: 64, height: 48))
        func isNear(_ x: Int, _ y: Int, _ color: SIMD4<UInt8>) -> Bool {
            (0..<4).allSatisfy { abs(Int(pixels[x, y][$0]) - Int(color[$0])) < 6 }
        }
        #expect(isNear(0, 0, [255, 0, 0, 255]) && isNear(60, 44, [255, 0, 0, 255]))
        #expect(isNear(10, 10, [0, 255, 0, 255]) && isNear(41, 41, [0, 255, 0, 255]))
        #expect(isNear(0, 30, [0, 0, 255, 255]) && isNear(50, 20, [0, 0, 255, 255]))
        // A transparent canvas.
        let clear = HEIFTestStill.overlay(background: [65_535, 0, 0, 0], 64, 48, at: [(0, 0)])
        let image = try decode([HEIFTestStill.derived("iovl", clear, from: [2]), red])
        #expect(image.hasAlpha && image.pixels[40, 40] == .zero && image.pixels[3, 3].w == 255)
    }

    @Test("Tiles of several kinds make a grid too")
    func mixedGrid() throws {
        let (half, full) = (try HEIFTestStill.picture(), try HEIFTestStill.picture(layout: .full))
        let grid = HEIFTestStill.grid(rows: 1, columns: 2, 60, 32)
        let pixels = try decode([HEIFTestStill.derived("grid", grid, from: [2, 3]), half, full]).pixels
        #expect(pixels.size == PixelSize(width: 60, height: 32))
        #expect(pixels[3, 3] == pixels[58, 3] && pixels[3, 3].w == 255)
        // A tile that is turned.
        let turned = try HEIFTestStill.picture(32, 32, [50, 60, 70], [HEIFTestStill.rotation(2)])
        #expect(throws: Never.self) { try decode([HEIFTestStill.derived("grid", grid, from: [2, 3]), half, turned]) }
    }

    @Test("A canvas has the depth and the dynamic range of its images, if they are kept")
    func depth() throws {
        let canvas = HEIFTestStill.overlay(background: [0, 0, 0, 65_535], 32, 32, at: [(0, 0)])
        for (bits, transfer, format) in [
            (8, 13, PixelFormat.rgba8), (10, 13, .rgba16), (10, 16, .rgbaFloat16), (10, 18, .rgbaFloat16),
        ] {
            let numbers = [120, 90, 200].map { $0 << (bits - 8) }
            let picture = try HEIFTestStill.picture(32, 32, numbers, bits: bits, transfer: transfer)
            let items = [HEIFTestStill.derived("iovl", canvas, from: [2]), picture]
            for keeps in [false, true] {
                let image = try decode(items) { $0.decodeToHDR = keeps }
                let plain = try decode([picture]) { $0.decodeToHDR = keeps }
                #expect(image.pixels.format == (keeps ? format : .rgba8) && image.pixels == plain.pixels)
                #expect(image.colorSpace == plain.colorSpace)
                #expect(image.isHighDynamicRange == plain.isHighDynamicRange)
            }
            let info = try HEIFCoder().info(HEIFTestStill(items: items).data)
            #expect(info.bitsPerComponent == bits && info.isHighDynamicRange == (transfer != 13))
        }
    }

    @Test("A canvas of images in standard and in high dynamic range is tone-mapped")
    func mixedRange() throws {
        let numbers = [120, 90, 200].map { $0 << 2 }
        let pictures = try [13, 16].map { try HEIFTestStill.picture(32, 32, numbers, bits: 10, transfer: $0) }
        let canvas = HEIFTestStill.overlay(background: [0, 0, 65_535, 65_535], 64, 64, at: [(0, 0), (32, 0)])
        let image = try decode([HEIFTestStill.derived("iovl", canvas, from: [2, 3])] + pictures) {
            $0.decodeToHDR = true
        }
        #expect(image.pixels.format == .rgba8 && !image.isHighDynamicRange)
        #expect(image.pixels[4, 60] == [0, 0, 255, 255])
        for (x, picture) in zip([4, 36], pictures) {
            #expect(try image.pixels[x, 4] == decode([picture]).pixels[4, 4])
        }
    }

    @Test("Tiles may have transparency each, all of them or some")
    func transparentTiles() throws {
        let tile = try HEIFTestStill.picture()
        let grid = HEIFTestStill.derived(
            "grid", HEIFTestStill.grid(rows: 1, columns: 2, 60, 30), from: [2, 3], [HEIFTestStill.rotation(2)])
        let (left, right) = (try HEIFTestStill.transparency(128, of: 2), try HEIFTestStill.transparency(64, of: 3))
        let both = try decode([grid, tile, tile, left, right])
        #expect(both.hasAlpha && both.pixels[55, 3].w == 128 && both.pixels[3, 3].w == 64)
        let one = try decode([grid, tile, tile, right])
        #expect(one.hasAlpha && one.pixels[55, 3].w == 255 && one.pixels[3, 3].w == 64)
        // The transparency of one tile has another size.
        let large = try HEIFTestStill.transparency(200, of: 3, 48, 48)
        let uneven = try decode([grid, tile, tile, left, large])
        #expect(uneven.hasAlpha && uneven.pixels[55, 3].w == 128 && uneven.pixels[3, 3].w == 200)
        // The transparency of the whole comes first.
        let whole = try HEIFTestStill.transparency(32, of: 1, 60, 32)
        #expect(try decode([grid, tile, tile, left, right, whole]).pixels[55, 3].w == 32)
        #expect(try !decode([grid, tile, tile]).hasAlpha)
    }

    @Test("Of tiles that are much higher than the image, only the part that is shown is kept", .capability("3.1"))
    func highTiles() throws {
        let grid = HEIFTestStill.derived(
            "grid", HEIFTestStill.grid(rows: 1, columns: 30, 960, 17), from: Array(repeating: 2, count: 30))
        let data = HEIFTestStill(items: [grid, try HEIFTestStill.picture(32, 2_048)]).data
        let (pool, budget) = (PixelBufferPool(limit: 0), DecodeBudget(limit: .gigabytes(1)))
        let context = ProcessingContext(pool: pool, budget: budget)
        let image = try HEIFCoder().decode(data, options: DecodeOptions(), context: context)
        #expect(try image.pixels == decode([grid, try HEIFTestStill.picture()]).pixels)
        // A row of whole tiles would take 3 MB; the tiles of the decoders have 4 × 32 × 2,048 pixels.
        #expect(pool.statistics.peakBytes < 1_000_000)
        #expect(budget.statistics.peakBytes > 4 * 32 * 2_048 * 4)
    }

    @Test("The memory that small transparency is enlarged in is reserved", .capability("3.1"))
    func smallTransparency() throws {
        let grid = HEIFTestStill.derived(
            "grid", HEIFTestStill.grid(rows: 24, columns: 24, 768, 768), from: Array(repeating: 2, count: 24 * 24))
        let items = [grid, try HEIFTestStill.picture(), try HEIFTestStill.transparency(128, of: 1)]
        let (pool, budget) = (PixelBufferPool(limit: 0), DecodeBudget(limit: .gigabytes(1)))
        let image = try HEIFCoder().decode(
            HEIFTestStill(items: items).data, options: DecodeOptions(thumbnailSize: PixelSize(width: 16, height: 16)),
            context: ProcessingContext(pool: pool, budget: budget))
        #expect(image.hasAlpha && image.pixels[8, 8].w == 128)
        #expect(pool.statistics.peakBytes > 768 * 768 && pool.statistics.peakBytes <= budget.statistics.peakBytes)
    }
}
#endif
