#if HEIF
internal import FoundationEssentials
internal import TintypeImages

/// The items of a HEIF file, with their properties, references and groups (ISO/IEC 14496-12, section 8.11, and ISO/IEC 23008-12,
/// section 9). Valid as long as the bytes of the file.
///
/// The table only holds the statements of the boxes. ``HEIFPlanner`` follows the references, and refuses circles.
struct ItemTable {
    struct Item {
        let id: Int
        /// The kind, in four letters.
        let type: String
        /// The MIME type of an item of the kind `mime`.
        let contentType: String?
        /// True if the item isn't to be shown by itself.
        let isHidden: Bool
        fileprivate(set) var properties: [Property] = []

        /// The first property of a type.
        func first(_ type: String) -> MediaBox? { properties.first { $0.box.type == type }?.box }
    }

    struct Property {
        let box: MediaBox
        /// True if a reader that doesn't know the property must not show the item.
        let isEssential: Bool
    }

    /// The item that is the image.
    let primary: Int
    /// The numbers of all items, in the order of the file.
    let order: [Int]
    /// The groups of items whose first readable item is shown.
    let alternatives: [[Int]]
    private let items: [Int: Item]
    private let places: ItemPlaces
    private let forward: [Reference: [Int]]
    private let backward: [Reference: [Int]]

    /// A kind of reference, in four letters, and the item at an end.
    private struct Reference: Hashable {
        var kind: String
        var item: Int
    }

    /// The item of an image's transparency.
    struct Transparency {
        var item: Int
        /// True if the colors are multiplied by it.
        var isPremultiplied: Bool
    }

    /// The transparency of each image that has any: the first item with it in the order of the file.
    private let transparencies: [Int: Transparency]

    /// - Parameters:
    ///   - meta: The contents of the box of this name.
    ///   - file: All bytes of the file.
    init(_ meta: UnsafeRawBufferPointer, of file: UnsafeRawBufferPointer) throws(ImageError) {
        let boxes = try MediaBox(type: "meta", contents: meta).boxes(from: 4)
        func box(_ type: String) throws(ImageError) -> MediaBox {
            guard let box = boxes.first(where: { $0.type == type }) else {
                throw .corrupt("the HEIF file has no '\(type)' box")
            }
            return box
        }
        var reader = try box("pitm").reader
        primary = try reader.fullBox().version == 0 ? reader.uint16() : reader.uint32()
        var items = try Self.items(try box("iinf"))
        let all = try box("iprp").boxes()
        let properties = try all.first { $0.type == "ipco" }?.boxes() ?? []
        for box in all where box.type == "ipma" { try Self.associate(properties, by: box, with: &items.all) }
        (self.items, order) = items
        var (forward, backward): ([Reference: [Int]], [Reference: [Int]]) = ([:], [:])
        if let box = boxes.first(where: { $0.type == "iref" }) {
            try Self.readReferences(box) { kind, source, target in
                forward[Reference(kind: kind, item: source), default: []].append(target)
                backward[Reference(kind: kind, item: target), default: []].append(source)
            }
        }
        (self.forward, self.backward) = (forward, backward)
        // Resolved once: a grid may ask for each of its tiles, and thousands of items may refer to a tile.
        let alphas = Set(items.order.filter { items.all[$0]?.isTransparency ?? false })
        var transparencies: [Int: Transparency] = [:]
        for (reference, sources) in backward where reference.kind == "auxl" {
            guard let item = sources.first(where: alphas.contains) else { continue }
            let multiplied = forward[Reference(kind: "prem", item: reference.item), default: []]
            transparencies[reference.item] = Transparency(item: item, isPremultiplied: multiplied.contains(item))
        }
        self.transparencies = transparencies
        alternatives = try boxes.first { $0.type == "grpl" }.map(Self.alternatives) ?? []
        places = try ItemPlaces(
            try box("iloc"), file: file, inner: boxes.first { $0.type == "idat" }?.contents,
            references: { forward[Reference(kind: "iloc", item: $0), default: []] })
    }

    // MARK: Items

    /// - Throws: ``ImageError/Code/corruptImage`` if the item is missing.
    func item(_ id: Int) throws(ImageError) -> Item {
        guard let item = items[id] else { throw .corrupt("the HEIF file refers to item \(id), which doesn't exist") }
        return item
    }

    /// The items that an item refers to.
    /// - Parameter kind: The kind of the reference, in four letters: `dimg` to the parts of a derived image, `auxl` to the image that an
    ///   auxiliary image belongs to.
    func references(_ kind: String, from item: Int) -> [Int] { forward[Reference(kind: kind, item: item), default: []] }

    /// The items that refer to an item.
    func items(referringTo item: Int, by kind: String) -> [Item] {
        backward[Reference(kind: kind, item: item), default: []].compactMap { items[$0] }
    }

    /// The transparency of an image.
    /// - Complexity: O(1)
    func transparency(of image: Int) -> Transparency? { transparencies[image] }

    /// Gives the bytes of an item, copied only if they are in several parts.
    /// - Throws: ``ImageError/Code/truncatedImage`` if the file ends before them.
    func withBytes<Value>(
        of item: Int, _ body: (UnsafeRawBufferPointer) throws(ImageError) -> Value
    ) throws(ImageError) -> Value {
        try places.withBytes(of: item, body)
    }

    /// The bytes that an item claims to have, and the bytes of the whole file.
    func claimedBytes(of item: Int) -> (item: Int, file: Int) { places.claimedBytes(of: item) }

    // MARK: Boxes

    private static func items(_ box: MediaBox) throws(ImageError) -> (all: [Int: Item], order: [Int]) {
        var reader = box.reader
        let isShort = try reader.fullBox().version == 0
        var (items, order): ([Int: Item], [Int]) = ([:], [])
        for entry in try box.boxes(from: isShort ? 6 : 8) where entry.type == "infe" {
            var reader = entry.reader
            let (version, flags) = try reader.fullBox()
            guard version == 2 || version == 3 else { continue }
            let id = version == 2 ? try reader.uint16() : try reader.uint32()
            try reader.skip(2)
            let type = try reader.letters()
            var contentType: String?
            if type == "mime" {
                // The name of the item comes first. Both end with a zero.
                let texts = try reader.take(reader.remaining).split(
                    separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
                if texts.count > 1 { contentType = String(decoding: texts[1], as: UTF8.self) }
            }
            guard items[id] == nil else { throw .corrupt("the HEIF file defines item \(id) twice") }
            items[id] = Item(id: id, type: type, contentType: contentType, isHidden: flags & 1 != 0)
            order.append(id)
        }
        return (items, order)
    }

    /// Reads an `ipma` box: for each item the numbers of its properties, from 1.
    private static func associate(
        _ properties: [MediaBox], by box: MediaBox, with items: inout [Int: Item]
    ) throws(ImageError) {
        var reader = box.reader
        let (version, flags) = try reader.fullBox()
        var room = ItemPlaces.maximumEntries
        for _ in 0..<(try reader.uint32()) {
            let id = version == 0 ? try reader.uint16() : try reader.uint32()
            let count = try reader.uint8()
            room -= count
            guard room >= 0 else { throw ItemPlaces.tooMany("properties") }
            var associated: [Property] = []
            for _ in 0..<count {
                let isLong = flags & 1 != 0
                let number = isLong ? try reader.uint16() : try reader.uint8()
                let index = number & (isLong ? 0x7FFF : 0x7F)
                guard index >= 1, index <= properties.count else { continue }
                associated.append(
                    Property(box: properties[index - 1], isEssential: number >> (isLong ? 15 : 7) != 0))
            }
            guard items[id]?.properties.isEmpty ?? true else {
                throw .corrupt("the properties of item \(id) of the HEIF file are stated twice")
            }
            items[id]?.properties = associated
        }
    }

    private static func readReferences(
        _ box: MediaBox, _ body: (_ kind: String, _ source: Int, _ target: Int) -> Void
    ) throws(ImageError) {
        var reader = box.reader
        let isShort = try reader.fullBox().version == 0
        func item(_ reader: inout BoxReader) throws(ImageError) -> Int {
            isShort ? try reader.uint16() : try reader.uint32()
        }
        var room = ItemPlaces.maximumEntries
        for box in try box.boxes(from: 4) {
            var reader = box.reader
            let source = try item(&reader)
            let count = try reader.uint16()
            room -= count
            guard room >= 0 else { throw ItemPlaces.tooMany("references") }
            for _ in 0..<count { body(box.type, source, try item(&reader)) }
        }
    }

    /// Reads the groups of the kind `altr`.
    private static func alternatives(_ box: MediaBox) throws(ImageError) -> [[Int]] {
        var (groups, room): ([[Int]], Int) = ([], ItemPlaces.maximumEntries)
        for group in try box.boxes() where group.type == "altr" {
            var reader = group.reader
            _ = try reader.fullBox()
            try reader.skip(4)
            var items: [Int] = []
            let count = try reader.uint32()
            room -= count
            guard room >= 0 else { throw ItemPlaces.tooMany("group members") }
            for _ in 0..<count { items.append(try reader.uint32()) }
            groups.append(items)
        }
        return groups
    }
}
#endif
