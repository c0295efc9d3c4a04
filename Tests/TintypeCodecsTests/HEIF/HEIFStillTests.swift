#if HEIF
import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

@Suite("HEIF stills", .timeLimited)
struct HEIFStillTests {
    /// Writes a picture without loss, as tiles of a grid if it has several columns or rows, or as one image.
    /// - Parameter settings: Further parameters of x265.
    private func file(
        _ noise: PlanarNoise, tile: PixelSize? = nil, alpha: Int? = nil, tileProperties: [Data] = [],
        settings: [String: String] = [:], _ transformations: [Data] = []
    ) throws -> Data {
        let size = noise.picture.size
        let tile = tile ?? size
        let (columns, rows) = (
            (size.width + tile.width - 1) / tile.width, (size.height + tile.height - 1) / tile.height
        )
        let color = HEIFTestSequence.color(primaries: 1, transfer: 13, matrix: 1, isFullRange: false)
        var tiles: [HEIFTestStill.Item] = []
        for index in 0..<columns * rows {
            let (column, row) = (index % columns, index / columns)
            let pictures = try HEVCTestEncoder(
                width: tile.width, height: tile.height, layout: noise.picture.layout.encoded, bits: noise.picture.bits,
                settings: settings
            ).encode(frames: 1) { _, plane, x, y in
                let plane = (plane, noise.size(plane))
                let unit = plane.1 == size ? (1, 1) : (2, noise.picture.layout == .half ? 2 : 1)
                // Beyond the picture, the last numbers are repeated.
                let x = min(x + column * tile.width / unit.0, plane.1.width - 1)
                let y = min(y + row * tile.height / unit.1, plane.1.height - 1)
                return noise.numbers[plane.0][y * plane.1.width + x]
            }
            tiles.append(
                HEIFTestStill.Item(
                    data: pictures.samples[0].data,
                    properties: [
                        HEIFTestSequence.configuration(pictures.sets), HEIFTestStill.size(tile.width, tile.height),
                        color,
                    ] + tileProperties))
        }
        var items = tiles
        if columns * rows > 1 {
            var grid = HEIFTestStill.Item(
                type: "grid",
                data: HEIFTestStill.grid(rows: UInt8(rows), columns: UInt8(columns), size.width, size.height),
                properties: [HEIFTestStill.size(size.width, size.height), color])
            grid.references = [("dimg", tiles.indices.map { $0 + 2 })]
            grid.isInner = true
            items.insert(grid, at: 0)
        }
        items[0].properties += transformations
        if let alpha {
            let pictures = try HEVCTestEncoder(width: size.width, height: size.height, layout: .gray)
                .encode(frames: 1) { _, _, x, _ in x == 0 ? 255 : alpha }
            var item = HEIFTestStill.Item(
                data: pictures.samples[0].data,
                properties: [
                    HEIFTestSequence.configuration(pictures.sets), HEIFTestStill.size(size.width, size.height),
                    HEIFTestStill.alphaType,
                ] + transformations)
            item.references = [("auxl", [1])]
            items.append(item)
        }
        return HEIFTestStill(items: items).data
    }

    @Test(
        "A damaged picture is refused, or shows the same each time: no memory that was never written",
        arguments: [[:], ["lossless": "0", "sao": "1", "qp": "30"]])
    func damage(settings: [String: String]) throws {
        let noise = PlanarNoise(96, 80, .half, bits: 8, seed: 3)
        let whole = try file(noise, alpha: 128, settings: settings)
        // Swift doesn't see the C library's `mallopt` and `M_PERTURB`.
        typealias Mallopt = @convention(c) (Int32, Int32) -> Int32
        let mallopt = unsafeBitCast(try #require(dlsym(nil, "mallopt")), to: Mallopt.self)
        let perturb: Int32 = -6
        defer { _ = mallopt(perturb, 0) }
        for seed in 0..<100 as Range<UInt64> {
            var generator = SeededRandom(seed: seed)
            var data = whole
            for _ in 0..<3 {
                data[Int.random(in: whole.count / 4..<whole.count, using: &generator)] ^= UInt8.random(
                    in: 1...255, using: &generator)
            }
            // Memory that is allocated has another content each time.
            let images = [1, 77, 165].map { (content: Int32) -> PixelBuffer? in
                _ = mallopt(perturb, content)
                return try? HEIFCoder().decode(data).pixels
            }
            #expect(images[0] == images[1] && images[1] == images[2], "seed \(seed)")
        }
    }

    @Test(
        "Chroma that pixels share is interpolated, in one picture and across the tiles of a grid", arguments: [8, 10])
    func chroma(bits: Int) throws {
        for layout in [PlanarPicture.Chroma.half, .halfWidth, .full] {
            let noise = PlanarNoise(96, 80, layout, bits: bits, seed: UInt64(bits))
            for tile in [nil, PixelSize(width: 64, height: 48), PixelSize(width: 32, height: 80)] {
                let image = try HEIFCoder().decode(try file(noise, tile: tile))
                noise.expectColors(image.pixels, matrix: 1, isFullRange: false)
            }
        }
    }

    @Test("Sample-adaptive offset is applied, to pictures and to sequences")
    func adaptiveOffset() throws {
        // Edges that a coarse quantizer makes waves around, which the offset reduces.
        func number(_ plane: Int, _ x: Int, _ y: Int) -> Int { plane > 0 ? 128 : (x / 7 + y / 5) % 2 == 0 ? 60 : 190 }
        func error(sao: Bool) throws -> Int {
            let settings = ["lossless": "0", "qp": "40", "deblock": "0", "sao": sao ? "1" : "0", "preset": "medium"]
            let pictures = try HEVCTestEncoder(width: 128, height: 96, settings: settings.filter { $0.key != "preset" })
                .encode(frames: 1) { _, plane, x, y in number(plane, x, y) }
            let item = HEIFTestStill.Item(
                data: pictures.samples[0].data,
                properties: [
                    HEIFTestSequence.configuration(pictures.sets), HEIFTestStill.size(128, 96),
                    HEIFTestSequence.color(primaries: 1, transfer: 13, matrix: 1, isFullRange: true),
                ])
            let still = try HEIFCoder().decode(HEIFTestStill(items: [item]).data).pixels
            let movie = TestMovie(tracks: [HEIFTestSequence.track(pictures)])
            // The sequence states no colors: only its luma is compared.
            #expect(try HEIFCoder().decode(movie.data).size == still.size)
            var sum = 0
            for y in 0..<96 { for x in 0..<128 { sum += abs(Int(still[x, y].y) - number(0, x, y)) } }
            return sum
        }
        #expect(try error(sao: true) < error(sao: false))
    }

    @Test("A gray picture of limited range reaches black and white")
    func gray() throws {
        let noise = PlanarNoise(64, 64, .none, bits: 8, seed: 5)
        noise.expectColors(try HEIFCoder().decode(try file(noise)).pixels, matrix: 1, isFullRange: false)
    }

    @Test("Cropping, rotation, and mirroring come in this order, and transparency goes with them")
    func transformations() throws {
        let noise = PlanarNoise(96, 80, .half, bits: 8, seed: 6)
        let whole = try HEIFCoder().decode(try file(noise, alpha: 128))
        #expect(whole.hasAlpha && whole.pixels[0, 3].w == 255 && whole.pixels[9, 3].w == 128)
        for tile in [nil, PixelSize(width: 48, height: 48)] {
            for quarters in UInt8(0)..<4 {
                for leftRight in [nil, false, true] {
                    // 60x40 pixels from (22, 17) on.
                    var boxes = [HEIFTestStill.aperture(60, 40, right: 4, down: -3), HEIFTestStill.rotation(quarters)]
                    if let leftRight { boxes.append(HEIFTestStill.mirror(leftRight: leftRight)) }
                    let data = try file(noise, tile: tile, alpha: 128, boxes)
                    let image = try HEIFCoder().decode(data)
                    #expect(
                        image.size
                            == (quarters % 2 == 0 ? PixelSize(width: 60, height: 40) : PixelSize(width: 40, height: 60))
                    )
                    #expect(try HEIFCoder().info(data).size == image.size)
                    for y in 0..<image.size.height {
                        for x in 0..<image.size.width {
                            let place = Self.source(x, y, image.size, quarters: Int(quarters), leftRight: leftRight)
                            let expected = whole.pixels[place.x + 22, place.y + 17]
                            guard image.pixels[x, y] != expected else { continue }
                            Issue.record(
                                "\(x), \(y) of \(quarters) quarters, mirrored \(String(describing: leftRight))")
                            return
                        }
                    }
                }
            }
        }
    }

    /// The pixel of the cropped picture that is shown at a place.
    private static func source(
        _ x: Int, _ y: Int, _ size: PixelSize, quarters: Int, leftRight: Bool?
    ) -> (x: Int, y: Int) {
        // Back through the mirroring, then through each turn counterclockwise.
        var (x, y, width, height) = (x, y, size.width, size.height)
        if leftRight == true { x = width - 1 - x }
        if leftRight == false { y = height - 1 - y }
        for _ in 0..<quarters {
            (x, y) = (height - 1 - y, x)
            (width, height) = (height, width)
        }
        return (x, y)
    }

    @Test(
        "A picture whose slices end before it does is damaged, in a still image and in a sequence", arguments: [8, 10])
    func missingBlocks(bits: Int) throws {
        let noise = PlanarNoise(96, 144, .half, bits: bits, seed: 9)
        func encode(height: Int, _ settings: [String: String]) throws -> HEVCTestEncoder.Output {
            try HEVCTestEncoder(width: 96, height: height, bits: bits, settings: settings)
                .encode(frames: 1) { _, plane, x, y in noise.numbers[plane][y * (plane == 0 ? 96 : 48) + x] }
        }
        for settings in [["ctu": "16"], ["lossless": "0", "sao": "1", "qp": "30"]] {
            var pictures = try encode(height: 144, settings)
            for height in [144, 128, 64] {
                // The parameter sets state 144 rows.
                pictures.samples = try encode(height: height, settings).samples
                let item = HEIFTestStill.Item(
                    data: pictures.samples[0].data,
                    properties: [HEIFTestSequence.configuration(pictures.sets), HEIFTestStill.size(96, 144)])
                for data in [
                    HEIFTestStill(items: [item]).data, TestMovie(tracks: [HEIFTestSequence.track(pictures)]).data,
                ] {
                    if height == 144 {
                        #expect(throws: Never.self) { try HEIFCoder().decode(data) }
                    } else {
                        expectCode(.corruptImage) { try HEIFCoder().decode(data) }
                        expectCode(.corruptImage) { try HEIFCoder().decode(data) { $0.allowsPartialImage = true } }
                    }
                }
            }
        }
    }

    @Test("A grid whose tiles are missing, damaged, or of two sizes is refused")
    func damagedGrids() throws {
        let noise = PlanarNoise(96, 80, .half, bits: 8, seed: 7)
        let data = try file(noise, tile: PixelSize(width: 48, height: 40))
        #expect(throws: Never.self) { try HEIFCoder().decode(data) }
        // Of five columns, there are tiles for two.
        let grid = try #require(data.range(of: Data("idat".utf8)))
        var wide = data
        wide[grid.upperBound + 3] = 4
        expectCode(.corruptImage) { try HEIFCoder().decode(wide) }
        try HEIFCoder().survives(damageTo: data, cases: 300, seed: 8)
    }
}

extension PlanarPicture.Chroma {
    fileprivate var encoded: HEVCTestEncoder.Layout {
        switch self {
        case .none: .gray
        case .full: .full
        case .halfWidth: .halfWidth
        case .half: .half
        }
    }
}
#endif
