#if HEIF
import Foundation

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
    }

    /// Items have numbers from 1; the first is the image.
    var items: [Item]

    var data: Data {
        let beginning = TestMovie.box("ftyp", Data("heic\0\0\0\0mif1heic".utf8))
        let media = items.filter { !$0.isInner }.reduce(Data()) { $0 + $1.data }
        let length = meta(offset: 0).count
        return beginning + meta(offset: beginning.count + length + 8) + TestMovie.box("mdat", media)
    }

    /// - Parameter offset: The place of the first item's data in the file.
    private func meta(offset: Int) -> Data {
        func short(_ value: Int) -> Data { TestMovie.number(value, bytes: 2) }
        var contents = Data(count: 4)
        contents += TestMovie.box("hdlr", Data(count: 8) + Data("pict".utf8) + Data(count: 13))
        contents += TestMovie.box("pitm", Data(count: 4) + short(1))
        // Version 1, with offsets and counts of four bytes.
        var (places, inner) = (TestMovie.number(1 << 24) + short(0x4400) + short(items.count), Data())
        var next = offset
        var (entries, references) = (short(items.count), Data())
        var (properties, associations) = (Data(), TestMovie.number(items.count))
        var propertyCount = 0
        for (index, item) in items.enumerated() {
            let id = short(index + 1)
            places += id + short(item.isInner ? 1 : 0) + short(0) + short(1)
            places += TestMovie.number(item.isInner ? inner.count : next) + TestMovie.number(item.data.count)
            if item.isInner { inner += item.data } else { next += item.data.count }
            entries += TestMovie.box("infe", TestMovie.number(2 << 24) + id + short(0) + Data((item.type + "\0").utf8))
            for reference in item.references {
                let targets = reference.targets.reduce(into: Data()) { $0 += short($1) }
                references += TestMovie.box(reference.kind, id + short(reference.targets.count) + targets)
            }
            associations += id + Data([UInt8(item.properties.count)])
            for property in item.properties {
                properties += property
                propertyCount += 1
                associations += Data([UInt8(propertyCount)])
            }
        }
        contents += TestMovie.box("iinf", Data(count: 4) + entries) + TestMovie.box("iloc", places)
        if !references.isEmpty { contents += TestMovie.box("iref", Data(count: 4) + references) }
        contents += TestMovie.box(
            "iprp", TestMovie.box("ipco", properties) + TestMovie.box("ipma", Data(count: 4) + associations))
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

    static let alphaType = TestMovie.box("auxC", Data(count: 4) + Data("urn:mpeg:hevc:2015:auxid:1\0".utf8))

    /// The item data of a grid.
    static func grid(rows: UInt8, columns: UInt8, _ width: Int, _ height: Int) -> Data {
        Data([0, 0, rows - 1, columns - 1]) + TestMovie.number(width, bytes: 2) + TestMovie.number(height, bytes: 2)
    }
}
#endif
