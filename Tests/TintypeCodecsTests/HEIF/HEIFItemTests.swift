#if HEIF
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeTesting

@testable import TintypeCodecs

/// Files whose items refer to each other in all ways, honest and not.
@Suite("HEIF items", .timeLimited)
struct HEIFItemTests {
    private func decode(_ items: [HEIFTestStill.Item], _ options: (inout DecodeOptions) -> Void = { _ in }) throws
        -> Image
    {
        try HEIFCoder().decode(HEIFTestStill(items: items).data, options)
    }

    private func refuses(
        _ code: ImageError.Code, _ items: [HEIFTestStill.Item], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let data = HEIFTestStill(items: items).data
        #expect(throws: ImageError.self, sourceLocation: sourceLocation) { try HEIFCoder().decode(data) }
        do throws(ImageError) {
            _ = try HEIFCoder().decode(data, options: DecodeOptions(), context: ProcessingContext())
        } catch { #expect(error.code == code, "\(error.reason)", sourceLocation: sourceLocation) }
    }

    // MARK: Refusals

    @Test("Images that are made of themselves, alone or in a circle, are damaged")
    func circles() throws {
        let grid = HEIFTestStill.grid(rows: 1, columns: 1, 32, 32)
        let overlay = HEIFTestStill.overlay(background: [0, 0, 0, 65_535], 32, 32, at: [(0, 0)])
        for (type, data) in [("iden", Data([0])), ("grid", grid), ("iovl", overlay), ("tmap", Data([0]))] {
            refuses(.corruptImage, [HEIFTestStill.derived(type, data, from: [1])])
            refuses(
                .corruptImage,
                [HEIFTestStill.derived(type, data, from: [2]), HEIFTestStill.derived("iden", Data([0]), from: [1])])
        }
        // Transparency of itself.
        var alpha = try HEIFTestStill.picture()
        alpha.properties.append(HEIFTestStill.alphaType)
        alpha.references = [("auxl", [1])]
        #expect(throws: Never.self) { try decode([alpha]) }
        // Twenty images, each made of the next.
        let chain =
            (2...21).map { HEIFTestStill.derived("iden", Data([0]), from: [$0]) } + [try HEIFTestStill.picture()]
        refuses(.corruptImage, chain)
        // An item that lies within itself.
        var inner = try HEIFTestStill.picture()
        inner.container = (0, 10)
        inner.references = [("iloc", [1])]
        refuses(.corruptImage, [inner])
    }

    @Test("A file that names one picture very often is over a limit, at once")
    func manyReferences() throws {
        for count in [300, 2_000, 65_535] {
            let data = HEIFTestStill.overlay(
                background: [0, 0, 0, 65_535], 32, 32, at: Array(repeating: (0, 0), count: count))
            refuses(
                .limitExceeded,
                [
                    HEIFTestStill.derived("iovl", data, from: Array(repeating: 2, count: count)),
                    try HEIFTestStill.picture(),
                ])
        }
        // Overlays of overlays of overlays.
        let data = HEIFTestStill.overlay(
            background: [0, 0, 0, 65_535], 32, 32, at: Array(repeating: (0, 0), count: 100))
        let layers = (2...6).map { HEIFTestStill.derived("iovl", data, from: Array(repeating: $0, count: 100)) }
        refuses(.limitExceeded, layers + [try HEIFTestStill.picture()])
    }

    @Test("Large canvases within each other are over a limit, before memory is taken", .capability("3.1"))
    func nestedCanvases() throws {
        func canvases(_ count: Int, _ side: Int) throws -> [HEIFTestStill.Item] {
            let data = HEIFTestStill.overlay(background: [0, 0, 0, 65_535], side, side, at: [(0, 0)])
            return (2...count + 1).map { HEIFTestStill.derived("iovl", data, from: [$0]) }
                + [try HEIFTestStill.picture()]
        }
        refuses(.limitExceeded, try canvases(7, 16_384))
        refuses(.limitExceeded, try canvases(2, 16_384))
        #expect(throws: Never.self) { try decode(canvases(7, 64)) }
        // One is within the limit. It is planned for the header, too.
        #expect(try HEIFCoder().info(HEIFTestStill(items: canvases(1, 16_384)).data).size.width == 16_384)
    }

    @Test("Sizes that no memory could hold are errors, even without a limit of pixels", .capability("3.1"))
    func endlessCanvas() throws {
        var context = ProcessingContext()
        (context.limits.maximumPixels, context.limits.maximumSide) = (.max, .max)
        // Numbers of 32 bits: the background, the size, and the place of the image.
        let side = TestMovie.number(Int(UInt32.max))
        let data = Data([0, 1]) + Data(count: 8) + side + side + Data(count: 8)
        let file = HEIFTestStill(items: [HEIFTestStill.derived("iovl", data, from: [2]), try HEIFTestStill.picture()])
        expectCode(.limitExceeded) { try HEIFCoder().info(of: file.data, context: context) }
    }

    @Test("A picture whose transparency is much larger, or whose bytes are used again and again, is over a limit")
    func expensiveParts() throws {
        var alpha = try HEIFTestStill.picture(640, 640, [128], layout: .gray, [HEIFTestStill.alphaType])
        alpha.references = [("auxl", [1])]
        refuses(.limitExceeded, [try HEIFTestStill.picture(), alpha])
        // A small part of a large picture as the transparency, of the image itself and of what lies on a canvas.
        var part = HEIFTestStill.derived("grid", HEIFTestStill.grid(rows: 1, columns: 1, 32, 32), from: [3])
        part.properties.append(HEIFTestStill.alphaType)
        part.references.append(("auxl", [1]))
        let tile = try HEIFTestStill.picture(640, 640, [128], layout: .gray)
        refuses(.limitExceeded, [try HEIFTestStill.picture(), part, tile])
        part.references = [("dimg", [4]), ("auxl", [2])]
        let canvas = HEIFTestStill.overlay(background: [0, 0, 0, 65_535], 32, 32, at: [(0, 0)])
        refuses(
            .limitExceeded, [HEIFTestStill.derived("iovl", canvas, from: [2]), try HEIFTestStill.picture(), part, tile])
        // Forty images of all bytes of a large file.
        var large = try HEIFTestStill.picture()
        let length = large.data.count
        large.data += TestMovie.number(200_000) + Data(count: 200_000)
        let data = HEIFTestStill.overlay(
            background: [0, 0, 0, 65_535], 32, 32, at: Array(repeating: (0, 0), count: 40))
        refuses(.limitExceeded, [HEIFTestStill.derived("iovl", data, from: Array(repeating: 2, count: 40)), large])
        large.data = large.data.prefix(length)
        #expect(throws: Never.self) {
            try decode([HEIFTestStill.derived("iovl", data, from: Array(repeating: 2, count: 40)), large])
        }
    }

    @Test("A grid of one tile, which an item refers to very often, is planned at once")
    func manyAuxiliaryReferences() throws {
        let grid = HEIFTestStill.grid(rows: 48, columns: 48, 1_536, 1_536)
        var other = try HEIFTestStill.picture(
            32, 32, [9], layout: .gray, [HEIFTestStill.auxiliaryType("urn:tintype:test")])
        other.references = Array(repeating: ("auxl", Array(repeating: 2, count: 60_000)), count: 2)
        let items = [
            HEIFTestStill.derived("grid", grid, from: Array(repeating: 2, count: 48 * 48)),
            try HEIFTestStill.picture(), other,
        ]
        let data = HEIFTestStill(items: items).data
        let start = ContinuousClock.now
        let info = try HEIFCoder().info(data)
        #expect(info.size == PixelSize(width: 1_536, height: 1_536) && !info.hasAlpha)
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    @Test("The configuration of a picture counts as its bytes do: many tiles can't share a large one")
    func largeConfiguration() throws {
        var tile = try HEIFTestStill.picture()
        tile.properties[0] = TestMovie.box("hvcC", tile.properties[0].dropFirst(8) + Data(count: 60_000))
        func items(_ side: Int) -> [HEIFTestStill.Item] {
            let grid = HEIFTestStill.grid(rows: UInt8(side), columns: UInt8(side), side * 32, side * 32)
            return [HEIFTestStill.derived("grid", grid, from: Array(repeating: 2, count: side * side)), tile]
        }
        #expect(throws: Never.self) { try decode(items(2)) }
        refuses(.limitExceeded, items(16))
    }

    @Test("A matrix that can't be undone is an error; a gray picture needs none")
    func matrices() throws {
        for matrix in [0, 3, 10, 11, 13, 14, 15, 255] {
            let color = HEIFTestSequence.color(primaries: 1, transfer: 13, matrix: matrix, isFullRange: true)
            var (item, gray) = (try HEIFTestStill.picture(), try HEIFTestStill.picture(32, 32, [120], layout: .gray))
            item.properties[2] = color
            gray.properties[2] = color
            refuses(.corruptImage, [item])
            #expect(throws: Never.self) { try decode([gray]) }
            let sequence = HEIFTestSequence.track(try KnownPictures.encode(2)) { $0.codingBoxes += color }
            expectCode(.corruptImage) { try HEIFCoder().decode(TestMovie(tracks: [sequence]).data) }
        }
    }

    @Test("A grid has tiles of one size that cover it, as many as it says")
    func grids() throws {
        let tile = try HEIFTestStill.picture()
        func grid(_ rows: UInt8, _ columns: UInt8, _ width: Int, _ height: Int, _ count: Int) -> HEIFTestStill.Item {
            HEIFTestStill.derived(
                "grid", HEIFTestStill.grid(rows: rows, columns: columns, width, height),
                from: Array(repeating: 2, count: count))
        }
        #expect(try decode([grid(2, 2, 60, 50, 4), tile]).size == PixelSize(width: 60, height: 50))
        // Tiles that aren't seen aren't missed.
        #expect(try decode([grid(3, 3, 60, 50, 9), tile]).size == PixelSize(width: 60, height: 50))
        for bad in [
            grid(2, 2, 65, 50, 4), grid(2, 2, 60, 65, 4), grid(2, 2, 512, 512, 4), grid(2, 2, 0, 0, 4),
            grid(2, 2, 60, 50, 3), grid(2, 2, 60, 50, 5), grid(2, 2, 60, 50, 0), grid(0, 0, 60, 50, 4),
            grid(0, 0, 60_000, 60_000, 65_535),
        ] { refuses(.corruptImage, [bad, tile]) }
        var other = grid(1, 2, 64, 32, 2)
        other.references = [("dimg", [2, 3])]
        refuses(.corruptImage, [other, tile, try HEIFTestStill.picture(64, 32)])
        refuses(.corruptImage, [other, tile])
        // Tiles of 16,384 pixels for an image of one.
        var large = ProcessingContext()
        large.limits.maximumPixels = 1_000
        let data = HEIFTestStill(items: [grid(2, 2, 60, 50, 4), tile]).data
        expectCode(.limitExceeded) { try HEIFCoder().decode(data, options: DecodeOptions(), context: large) }
    }

    @Test("A size that isn't that of the picture, or of nothing, is damage")
    func sizes() throws {
        for (width, height) in [(33, 32), (32, 31), (0, 32), (1 << 31, 1 << 31)] {
            var item = try HEIFTestStill.picture()
            item.properties[1] = HEIFTestStill.size(width, height)
            refuses(.corruptImage, [item])
        }
    }

    @Test("A property that must be known, and isn't, is no image that can be shown")
    func essential() throws {
        var item = try HEIFTestStill.picture(32, 32, [100, 128, 128], [TestMovie.box("abcd", Data(count: 4))])
        #expect(throws: Never.self) { try decode([item]) }
        item.propertiesAreEssential = true
        refuses(.formatNotEnabled, [item])
        refuses(.formatNotEnabled, [HEIFTestStill.Item(type: "j2k1", data: Data([0]), properties: [])])
    }

    @Test("Places outside of the file, and boxes that claim more than there is, are errors")
    func places() throws {
        let whole = HEIFTestStill(items: [try HEIFTestStill.picture()]).data
        for type in ["meta", "pitm", "iinf", "infe", "iloc", "iprp", "ipco", "ipma", "hvcC", "ispe", "mdat"] {
            let start = try #require(whole.range(of: Data(type.utf8))).lowerBound - 4
            for size in [0, 1, 7, 9, 255, 0x7FFF_FFFF, 0xFFFF_FFFF] {
                var data = whole
                data.replaceSubrange(start..<start + 4, with: TestMovie.number(size))
                do throws(ImageError) {
                    _ = try HEIFCoder().decode(data, options: DecodeOptions(), context: ProcessingContext())
                } catch { #expect([.corruptImage, .truncatedImage].contains(error.code), "\(type) \(size)") }
            }
        }
        let places = try #require(whole.range(of: Data("iloc".utf8))).upperBound
        for (offset, code) in [(16, ImageError.Code.truncatedImage), (20, .truncatedImage)] {
            var data = whole
            data.replaceSubrange(places + offset..<places + offset + 4, with: TestMovie.number(0x7FFF_FFFF))
            expectCode(code) { try HEIFCoder().decode(data) }
        }
    }

    // MARK: Derived images

    @Test("Bytes are in the file, in the description, or in another item")
    func containers() throws {
        var expected: PixelBuffer?
        let plain = try HEIFTestStill.picture()
        for method in 0...2 {
            var (items, item) = ([plain], plain)
            item.isInner = method == 1
            if method == 2 {
                item.container = (3, plain.data.count)
                item.references = [("iloc", [2])]
                items.append(
                    HEIFTestStill.Item(type: "mime", data: Data([1, 2, 3]) + plain.data + Data([4]), properties: []))
            }
            items[0] = item
            let pixels = try decode(items).pixels
            #expect(pixels == expected ?? pixels)
            expected = pixels
        }
    }

    @Test("An identical image is shown as its source is, and then as its own properties say, in their order")
    func identity() throws {
        let noise = PlanarNoise(48, 32, .full, bits: 8, seed: 4)
        let pictures = try HEVCTestEncoder(width: 48, height: 32, layout: .full)
            .encode(frames: 1) { _, plane, x, y in noise.numbers[plane][y * 48 + x] }
        func file(_ first: [Data], _ second: [Data]) throws -> PixelBuffer {
            var source = try HEIFTestStill.picture()
            source.data = pictures.samples[0].data
            source.properties[0] = HEIFTestSequence.configuration(pictures.sets)
            source.properties[1] = HEIFTestStill.size(48, 32)
            source.properties += first
            return try decode([HEIFTestStill.derived("iden", Data([0]), from: [2], second), source]).pixels
        }
        let whole = try file([], [])
        let (turn, crop) = (HEIFTestStill.rotation(1), HEIFTestStill.aperture(20, 12, right: 2, down: -3))
        let mirror = HEIFTestStill.mirror(leftRight: true)
        #expect(
            try file([turn], []) == file([], [turn])
                && file([turn, turn], [turn]) == file([], [HEIFTestStill.rotation(3)]))
        #expect(try file([crop], [turn]) == file([], [crop, turn]))
        #expect(try file([mirror, turn], []) == file([mirror], [turn]))
        #expect(try file([mirror, turn], []) != file([turn, mirror], []))
        #expect(try file([turn], [HEIFTestStill.rotation(3)]) == whole && file([mirror], [mirror]) == whole)
        // A part of the turned image: 20x12 pixels around (2, -3) from the middle of 32x48.
        let part = try file([turn], [crop])
        let turned = try file([turn], [])
        for y in 0..<12 { for x in 0..<20 { #expect(part[x, y] == turned[x + 8, y + 15]) } }
    }

    @Test("A derived image may state what its colors mean, and its parts how they are coded")
    func derivedColors() throws {
        let profile = try #require(CodePoints(primaries: 12, transfer: 13).profile)
        let source = try HEIFTestStill.picture()
        let expected = try decode([source]).pixels
        let grid = HEIFTestStill.grid(rows: 1, columns: 1, 32, 32)
        let colors = [
            TestMovie.box("colr", Data("prof".utf8) + profile),
            HEIFTestSequence.color(primaries: 12, transfer: 13, matrix: 9, isFullRange: false),
        ]
        for (type, data) in [("iden", Data([0])), ("grid", grid)] {
            for color in colors {
                let image = try decode([HEIFTestStill.derived(type, data, from: [2], [color]), source]) {
                    $0.keepsColorSpace = true
                }
                #expect(image.pixels == expected && image.colorSpace.name == "Display P3")
            }
            // Parts that state nothing.
            var silent = source
            let color = silent.properties.remove(at: 2)
            #expect(try decode([HEIFTestStill.derived(type, data, from: [2], [color]), silent]).pixels == expected)
        }
    }

    @Test("An embedded thumbnail is used if it states the colors of the image, or none")
    func thumbnailColors() throws {
        let image = try HEIFTestStill.picture(64, 64, [100, 128, 128])
        func level(_ colors: [Data]) throws -> Int {
            var small = try HEIFTestStill.picture(32, 32, [200, 128, 128])
            small.properties.replaceSubrange(2..., with: colors)
            small.references = [("thmb", [1])]
            let pixels = try decode([image, small]) { $0.thumbnailSize = PixelSize(width: 16, height: 16) }.pixels
            return Int(pixels[4, 4].x)
        }
        let own = HEIFTestSequence.color(primaries: 1, transfer: 13, matrix: 1, isFullRange: true)
        for colors in [[], [own]] { #expect(try abs(level(colors) - 200) < 3) }
        for (transfer, matrix, isFullRange) in [(16, 1, true), (13, 9, true), (13, 1, false)] {
            let color = HEIFTestSequence.color(
                primaries: 1, transfer: transfer, matrix: matrix, isFullRange: isFullRange)
            #expect(try abs(level([color]) - 100) < 3)
        }
    }

    @Test("An aperture that doesn't lie within the picture on whole pixels changes nothing")
    func apertures() throws {
        let whole = try decode([try HEIFTestStill.picture()]).pixels
        for fields in [
            [31, 2, 20, 1, 0, 1, 0, 1], [20, 1, 20, 1, 1, 2, 0, 1], [40, 1, 20, 1, 0, 1, 0, 1],
            [20, 0, 20, 1, 0, 1, 0, 1],
        ] {
            let aperture = TestMovie.box("clap", TestMovie.numbers(fields))
            #expect(try decode([try HEIFTestStill.picture(32, 32, [120, 90, 200], [aperture])]).pixels == whole)
        }
    }

    @Test("Depth isn't transparency, and transparency may have another size")
    func auxiliaryImages() throws {
        func alpha(_ width: Int, _ height: Int, _ name: String) throws -> HEIFTestStill.Item {
            var item = try HEIFTestStill.picture(
                width, height, [128], layout: .gray, [HEIFTestStill.auxiliaryType(name)])
            item.references = [("auxl", [1])]
            return item
        }
        let names = ["urn:mpeg:hevc:2015:auxid:2", "urn:com:apple:photo:2018:aux:semanticskinmatte", ""]
        for name in names { #expect(try !decode([try HEIFTestStill.picture(), try alpha(32, 32, name)]).hasAlpha) }
        for (width, height) in [(32, 32), (64, 64), (48, 40)] {
            for name in ["urn:mpeg:hevc:2015:auxid:1", "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha"] {
                let image = try decode([
                    try HEIFTestStill.picture(), try alpha(32, 32, names[0]), try alpha(width, height, name),
                ])
                #expect(image.hasAlpha && image.pixels[0, 0].w == 128 && image.pixels[31, 31].w == 128)
            }
        }
    }

    @Test("Images that are shown by themselves are pages, the primary one first", .capability("COD-61"))
    func pages() throws {
        let colors = [[50, 128, 128], [100, 128, 128], [150, 128, 128], [200, 128, 128], [220, 128, 128]]
        var items = try colors.map { try HEIFTestStill.picture(32, 32, $0) }
        items[1].isHidden = true
        items[3].references = [("thmb", [3])]
        var file = HEIFTestStill(items: items)
        file.primary = 3
        #expect(try HEIFCoder().info(file.data).pageCount == 3)
        for (page, level) in [150, 50, 220].enumerated() {
            let image = try HEIFCoder().decode(file.data) { $0.page = page }
            #expect(abs(Int(image.pixels[4, 4].x) - level) < 3, "page \(page)")
        }
        expectCode(.pageOutOfRange) { try HEIFCoder().decode(file.data) { $0.page = 3 } }
        expectCode(.pageOutOfRange) { try HEIFCoder().decode(file.data) { $0.page = -1 } }
        // Of alternatives, one is a page.
        file.alternatives = [[5, 3]]
        #expect(try HEIFCoder().info(file.data).pageCount == 2)
    }

    #if AVIF
    @Test("Pictures of AV1 in a HEIF file are those of an AVIF file")
    func av1() throws {
        let image = try RasterSamples.gradient(64, 48)
        var data = try AVIFCoder().encode(image, as: .avif, options: EncodeOptions())
        let expected = try AVIFCoder().decode(data).pixels
        let brand = try #require(data.range(of: Data("ftyp".utf8))).upperBound
        for place in stride(from: brand, to: brand + 40, by: 4) where data[place..<place + 4] == Data("avif".utf8) {
            data.replaceSubrange(place..<place + 4, with: Data("mif1".utf8))
        }
        #expect(try HEIFCoder().decode(data).pixels == expected)
        try HEIFCoder().survives(damageTo: data, cases: 100, seed: 5)
    }
    #endif
}
#endif
