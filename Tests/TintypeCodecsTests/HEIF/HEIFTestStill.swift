#if HEIF
import Foundation
import Testing
import TintypeImages

@testable import TintypeCodecs

/// Writes the boxes of still images, for tests.
struct HEIFTestStill {
    struct Item {
        var type = "hvc1"
        var data: Data
        /// Whole boxes, in their order.
        var properties: [Data]
        /// The kind of a reference, and the numbers of other items.
        var references: [(kind: String, targets: [Int])] = []
        /// Whether the data lies within the description.
        var isInner = false
        /// The item that the data lies in, by a reference of the kind `iloc`, from an offset on.
        var container: (offset: Int, count: Int)?
        var isHidden = false
        /// The MIME type of an item `mime`.
        var contentType: String?
        var propertiesAreEssential = false
    }

    /// Items have numbers from 1.
    var items: [Item]
    /// The number of the item that is the image.
    var primary = 1
    /// Groups of items of which one is to be shown.
    var alternatives: [[Int]] = []
    var brand = "heic"

    var data: Data {
        let beginning = TestMovie.box("ftyp", Data("\(brand)\0\0\0\0mif1\(brand)".utf8))
        let media = items.filter { !$0.isInner && $0.container == nil }.reduce(Data()) { $0 + $1.data }
        let length = meta(offset: 0).count
        return beginning + meta(offset: beginning.count + length + 8) + TestMovie.box("mdat", media)
    }

    /// - Parameter offset: The place of the first item's data in the file.
    private func meta(offset: Int) -> Data {
        func short(_ value: Int) -> Data { TestMovie.number(value, bytes: 2) }
        var contents = Data(count: 4)
        contents += TestMovie.box("hdlr", Data(count: 8) + Data("pict".utf8) + Data(count: 13))
        contents += TestMovie.box("pitm", Data(count: 4) + short(primary))
        // Version 1, with offsets and counts of four bytes.
        var (places, inner) = (TestMovie.number(1 << 24) + short(0x4400) + short(items.count), Data())
        var next = offset
        var (entries, references) = (short(items.count), Data())
        var (properties, associations) = (Data(), TestMovie.number(items.count))
        var propertyCount = 0
        for (index, item) in items.enumerated() {
            let id = short(index + 1)
            places += id + short(item.container != nil ? 2 : item.isInner ? 1 : 0) + short(0) + short(1)
            let offset = item.container?.offset ?? (item.isInner ? inner.count : next)
            places += TestMovie.number(offset) + TestMovie.number(item.container?.count ?? item.data.count)
            if item.isInner { inner += item.data } else if item.container == nil { next += item.data.count }
            let names = item.type + "\0" + (item.contentType.map { $0 + "\0" } ?? "")
            entries += TestMovie.box(
                "infe", TestMovie.number(2 << 24 | (item.isHidden ? 1 : 0)) + id + short(0) + Data(names.utf8))
            for reference in item.references {
                let targets = reference.targets.reduce(into: Data()) { $0 += short($1) }
                references += TestMovie.box(reference.kind, id + short(reference.targets.count) + targets)
            }
            associations += id + Data([UInt8(item.properties.count)])
            for property in item.properties {
                properties += property
                propertyCount += 1
                associations += Data([UInt8(propertyCount | (item.propertiesAreEssential ? 0x80 : 0))])
            }
        }
        contents += TestMovie.box("iinf", Data(count: 4) + entries) + TestMovie.box("iloc", places)
        if !references.isEmpty { contents += TestMovie.box("iref", Data(count: 4) + references) }
        contents += TestMovie.box(
            "iprp", TestMovie.box("ipco", properties) + TestMovie.box("ipma", Data(count: 4) + associations))
        if !alternatives.isEmpty {
            let groups = alternatives.enumerated().map { index, items in
                TestMovie.box("altr", TestMovie.numbers([0, 1_000 + index, items.count] + items))
            }
            contents += TestMovie.box("grpl", groups.reduce(Data(), +))
        }
        if !inner.isEmpty { contents += TestMovie.box("idat", inner) }
        return TestMovie.box("meta", contents)
    }

    // MARK: Properties

    static func size(_ width: Int, _ height: Int) -> Data {
        TestMovie.box("ispe", TestMovie.numbers([0, width, height]))
    }

    /// - Parameter quarters: Turns counterclockwise.
    static func rotation(_ quarters: UInt8) -> Data { TestMovie.box("irot", Data([quarters])) }

    static func mirror(leftRight: Bool) -> Data { TestMovie.box("imir", Data([leftRight ? 1 : 0])) }

    /// A part of a picture, from its middle.
    static func aperture(_ width: Int, _ height: Int, right: Int, down: Int) -> Data {
        TestMovie.box("clap", TestMovie.numbers([width, 1, height, 1, right, 1, down, 1]))
    }

    static let alphaType = auxiliaryType("urn:mpeg:hevc:2015:auxid:1")

    static func auxiliaryType(_ name: String) -> Data {
        TestMovie.box("auxC", Data(count: 4) + Data((name + "\0").utf8))
    }

    /// The item data of an overlay.
    /// - Parameter background: Red, green, blue, and alpha.
    static func overlay(
        background: [Int], _ width: Int, _ height: Int, at places: [(Int, Int)]
    ) -> Data {
        let numbers = background + [width, height] + places.flatMap { [$0 & 0xFFFF, $1 & 0xFFFF] }
        return numbers.reduce(Data([0, 0])) { $0 + TestMovie.number($1, bytes: 2) }
    }

    /// The item data of a grid.
    static func grid(rows: UInt8, columns: UInt8, _ width: Int, _ height: Int) -> Data {
        Data([0, 0, rows &- 1, columns &- 1]) + TestMovie.number(width, bytes: 2) + TestMovie.number(height, bytes: 2)
    }

    // MARK: Items

    /// A picture of one color without loss: luma and both differences.
    static func picture(
        _ width: Int = 32, _ height: Int = 32, _ numbers: [Int] = [120, 90, 200],
        layout: HEVCTestEncoder.Layout = .half, bits: Int = 8, transfer: Int = 13, _ properties: [Data] = []
    ) throws -> Item {
        let pictures = try HEVCTestEncoder(width: width, height: height, layout: layout, bits: bits)
            .encode(frames: 1) { _, plane, _, _ in numbers[plane] }
        return Item(
            data: pictures.samples[0].data,
            properties: [
                HEIFTestSequence.configuration(pictures.sets), size(width, height),
                HEIFTestSequence.color(primaries: 1, transfer: transfer, matrix: 1, isFullRange: true),
            ] + properties)
    }

    #if AVIF
    /// A gray picture of AV1.
    static func av1Picture(_ width: Int, _ height: Int, gray: UInt8 = 100) throws -> Item {
        let pixels = try RasterSamples.image(width, height) { _, _ in SIMD4(gray, gray, gray, 255) }
        let file = try AVIFCoder().encode(pixels, as: .avif, options: EncodeOptions())
        let configuration = try #require(file.range(of: Data("av1C".utf8))).upperBound
        return Item(
            type: "av01", data: file[try #require(file.range(of: Data("mdat".utf8))).upperBound...],
            properties: [
                size(width, height), TestMovie.box("av1C", file[configuration..<configuration + 4]),
                HEIFTestSequence.color(primaries: 1, transfer: 13, matrix: 6, isFullRange: true),
            ])
    }
    #endif

    /// The transparency of an item, the same everywhere.
    static func transparency(_ level: Int, of item: Int, _ width: Int = 32, _ height: Int = 32) throws -> Item {
        var transparency = try picture(width, height, [level], layout: .gray, [alphaType])
        transparency.references = [("auxl", [item])]
        return transparency
    }

    static func derived(
        _ type: String, _ data: Data = Data(), from targets: [Int], _ properties: [Data] = []
    ) -> Item {
        Item(type: type, data: data, properties: properties, references: [("dimg", targets)])
    }
}
#endif
