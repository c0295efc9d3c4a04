#if HEIF
internal import FoundationEssentials
internal import TintypeImages

/// The items of a HEIF file, with their properties and references (ISO/IEC 14496-12, section 8.11, and ISO/IEC 23008-12, section 9.3).
/// Valid as long as the bytes of the file.
struct ItemTable {
    /// The item that is the image.
    let primary: Int
    private let file: UnsafeRawBufferPointer
    private let inner: UnsafeRawBufferPointer?
    private let types: [Int: String]
    private let locations: [Int: Location]
    private let properties: [MediaBox]
    private let associations: [Int: [Int]]
    private let references: [Reference]

    /// The place of an item's bytes.
    private struct Location {
        enum Container: Int { case file, inner }

        /// `nil` if the bytes are in other items.
        var container: Container?
        /// The first offset and the count of bytes of each part. A count of 0 is all that follows.
        var extents: [(offset: Int, count: Int)]
    }

    private struct Reference {
        var kind: String
        var source: Int
        var targets: [Int]
    }

    /// - Parameters:
    ///   - meta: The contents of the box of this name.
    ///   - file: All bytes of the file.
    init(_ meta: UnsafeRawBufferPointer, of file: UnsafeRawBufferPointer) throws(ImageError) {
        let boxes = try MediaBox(type: "meta", contents: meta).boxes(from: 4)
        func box(_ type: String) throws(ImageError) -> MediaBox {
            guard let box = boxes.first(where: { $0.type == type }) else {
                throw .corrupt("the HEIF file has no box '\(type)'")
            }
            return box
        }
        self.file = file
        inner = boxes.first { $0.type == "idat" }?.contents
        var reader = try box("pitm").reader
        primary = try reader.fullBox().version == 0 ? reader.uint16() : reader.uint32()
        types = try Self.types(try box("iinf"))
        locations = try Self.locations(try box("iloc"))
        references = try boxes.first { $0.type == "iref" }.map(Self.references) ?? []
        let all = try box("iprp").boxes()
        properties = try all.first { $0.type == "ipco" }?.boxes() ?? []
        var associations: [Int: [Int]] = [:]
        for box in all where box.type == "ipma" { try Self.readAssociations(box, into: &associations) }
        self.associations = associations
    }

    // MARK: Items

    /// The kind of an item, in four letters.
    func type(of item: Int) -> String? { types[item] }

    /// The properties of an item, in the order of the file.
    func properties(of item: Int) -> [MediaBox] {
        associations[item, default: []].compactMap { $0 >= 1 && $0 <= properties.count ? properties[$0 - 1] : nil }
    }

    /// The items that an item refers to.
    /// - Parameter kind: The kind of the reference, in four letters: `dimg` to the parts of a derived image, `auxl` to the image that an
    ///   auxiliary one belongs to.
    func references(_ kind: String, from item: Int) -> [Int] {
        references.filter { $0.kind == kind && $0.source == item }.flatMap(\.targets)
    }

    /// The items that refer to an item.
    func items(referringTo item: Int, by kind: String) -> [Int] {
        references.filter { $0.kind == kind && $0.targets.contains(item) }.map(\.source)
    }

    /// Gives the bytes of an item, copied only if they are in several parts.
    /// - Throws: ``ImageError/Code/truncatedImage`` if the file ends before them.
    func withBytes<Value>(
        of item: Int, _ body: (UnsafeRawBufferPointer) throws(ImageError) -> Value
    ) throws(ImageError) -> Value {
        guard let location = locations[item], let container = location.container,
            let source = container == .file ? file : inner
        else { throw .corrupt("the HEIF file doesn't say where its item \(item) is") }
        func part(_ extent: (offset: Int, count: Int)) throws(ImageError) -> UnsafeRawBufferPointer {
            let (end, overflows) = extent.offset.addingReportingOverflow(extent.count)
            guard !overflows, extent.offset <= source.count, end <= source.count else {
                throw .truncated("the HEIF file ends before its item \(item) does")
            }
            return UnsafeRawBufferPointer(rebasing: source[extent.offset..<(extent.count == 0 ? source.count : end)])
        }
        if location.extents.count == 1 { return try body(try part(location.extents[0])) }
        var bytes = Data()
        for extent in location.extents {
            // Parts may overlap; no honest file's are longer than itself.
            guard bytes.count <= source.count else { throw .corrupt("item \(item) of the HEIF file is too long") }
            bytes.append(contentsOf: try part(extent))
        }
        return try bytes.withBytes(body)
    }

    // MARK: Boxes

    private static func types(_ box: MediaBox) throws(ImageError) -> [Int: String] {
        var reader = box.reader
        let isShort = try reader.fullBox().version == 0
        var types: [Int: String] = [:]
        for entry in try box.boxes(from: isShort ? 6 : 8) where entry.type == "infe" {
            var reader = entry.reader
            let version = try reader.fullBox().version
            guard version == 2 || version == 3 else { continue }
            let item = version == 2 ? try reader.uint16() : try reader.uint32()
            try reader.skip(2)
            types[item] = try reader.letters()
        }
        return types
    }

    private static func locations(_ box: MediaBox) throws(ImageError) -> [Int: Location] {
        var reader = box.reader
        let version = try reader.fullBox().version
        let sizes = try reader.uint16()
        let (offsetBytes, countBytes, baseBytes) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
        let indexBytes = version == 0 ? 0 : sizes & 15
        var locations: [Int: Location] = [:]
        for _ in 0..<(version < 2 ? try reader.uint16() : try reader.uint32()) {
            let item = version < 2 ? try reader.uint16() : try reader.uint32()
            let method = version == 0 ? 0 : try reader.uint16() & 15
            // Bytes in another file aren't read.
            let isElsewhere = try reader.uint16() != 0
            let base = try number(baseBytes, &reader)
            let count = try reader.uint16()
            guard count < 2 || offsetBytes + countBytes > 0 else { throw .corrupt("item \(item) has no places") }
            var location = Location(container: isElsewhere ? nil : Location.Container(rawValue: method), extents: [])
            for _ in 0..<count {
                try reader.skip(indexBytes)
                let (offset, overflows) = base.addingReportingOverflow(try number(offsetBytes, &reader))
                location.extents.append((overflows ? .max : offset, try number(countBytes, &reader)))
            }
            locations[item] = location
        }
        return locations
    }

    /// A number of 0, 4 or 8 bytes.
    private static func number(_ bytes: Int, _ reader: inout BoxReader) throws(ImageError) -> Int {
        switch bytes {
        case 0: return 0
        case 4: return try reader.uint32()
        case 8: return try reader.uint64()
        default: throw .corrupt("the HEIF file has places of \(bytes) bytes")
        }
    }

    private static func references(_ box: MediaBox) throws(ImageError) -> [Reference] {
        var reader = box.reader
        let isShort = try reader.fullBox().version == 0
        func item(_ reader: inout BoxReader) throws(ImageError) -> Int {
            isShort ? try reader.uint16() : try reader.uint32()
        }
        var references: [Reference] = []
        for box in try box.boxes(from: 4) {
            var reader = box.reader
            var reference = Reference(kind: box.type, source: try item(&reader), targets: [])
            for _ in 0..<(try reader.uint16()) { reference.targets.append(try item(&reader)) }
            references.append(reference)
        }
        return references
    }

    /// Reads an `ipma` box: for each item the numbers of its properties, from 1.
    private static func readAssociations(_ box: MediaBox, into associations: inout [Int: [Int]]) throws(ImageError) {
        var reader = box.reader
        let (version, flags) = try reader.fullBox()
        for _ in 0..<(try reader.uint32()) {
            let item = version == 0 ? try reader.uint16() : try reader.uint32()
            for _ in 0..<(try reader.uint8()) {
                // The highest bit says that a reader must know the property.
                let number = flags & 1 != 0 ? try reader.uint16() & 0x7FFF : try reader.uint8() & 0x7F
                associations[item, default: []].append(number)
            }
        }
    }
}
#endif
