#if AVIF
internal import TintypeImages

/// The items and the tracks of pictures that a file describes, within limits.
///
/// libavif 0.11 takes memory for all parts of a description before it checks any. It goes through all items for each entry of some boxes,
/// in a call that can't be canceled. It keeps 3 KB for a track of 8 bytes, and 16 bytes for a part of an item that takes none in the file:
/// 60 KB of those took more than 6 GB.
struct AVIFDescription {
    private let file: UnsafeRawBufferPointer
    /// The bytes of each item, as far as they are there, in one part or several.
    private(set) var items: [[UnsafeRawBufferPointer]] = []
    /// The tables of samples of AV1.
    private(set) var sampleTables: [MediaBox] = []
    /// The number of tiles of grids, and of other images that are made of images.
    private(set) var tileCount = 0
    /// True if an item has two places, of which libavif mixes up the parts.
    private var hasTwoPlaces = false
    /// Entries by the type of their box. Entries of some of these boxes make items.
    private var entries: [String: Int] = [:]
    /// The parts of items.
    private var parts = 0
    /// The bytes that are put together, of items in several parts.
    private var copiedBytes = 0

    /// Real files have up to a few hundred, for the tiles of a grid and of its transparency. libavif has a decoder for each tile at once,
    /// which takes 400 KB: 9,900 tiles took 4 GB.
    static let maximumItems = 1_000
    /// Of anything else: references, tracks, runs of chunks, descriptions of samples, and properties.
    private static let maximum = 10_000
    private static let maximumParts = ItemPlaces.maximumEntries
    private static let maximumSampleTables = 64

    /// Reads a file's description. The result is valid as long as the bytes of the file.
    /// - Parameter length: The length of the file, also if the end of it is missing.
    /// - Throws: ``ImageError/Code/limitExceeded``, and ``ImageError/Code/corruptImage`` if items share their bytes.
    init(_ file: UnsafeRawBufferPointer, _ boxes: TopLevelBoxes, length: Int) throws(ImageError) {
        // Boxes behind these aren't looked at.
        guard boxes.boxes.count < TopLevelBoxes.maximumCount else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the AVIF file has more than \(TopLevelBoxes.maximumCount) boxes")
        }
        self.file = file
        for box in boxes.boxes where box.isComplete {
            let contents = MediaBox(type: box.type, contents: UnsafeRawBufferPointer(rebasing: file[box.payload]))
            switch box.type {
            case "meta": add(descriptions: contents)
            case "moov": Self.forEach("trak", in: contents) { add(track: $0) }
            default: break
            }
        }
        let items = ["iinf", "iloc", "ipma"].compactMap { entries[$0] }.max() ?? 0
        let most = entries.values.max() ?? 0
        guard items <= Self.maximumItems, most <= Self.maximum, parts <= Self.maximumParts else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason:
                    "the AVIF file describes \(items) items with \(parts) extents, and \(most) entries of one kind; "
                    + "the limits are \(Self.maximumItems), \(Self.maximumParts), and \(Self.maximum)")
        }
        // No honest file's are longer than itself.
        guard copiedBytes <= length else {
            throw .corrupt("the items of the AVIF file share their bytes: they add up to more than the file")
        }
        guard !hasTwoPlaces else { throw .corrupt("the AVIF file states two locations for an item") }
        guard sampleTables.count <= Self.maximumSampleTables else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the AVIF file has \(sampleTables.count) image tracks, over the limit of "
                    + "\(Self.maximumSampleTables)")
        }
    }

    private mutating func add(track: MediaBox) {
        add(1, of: track)
        // Tracks may describe items of their own.
        Self.forEach("meta", in: track) { add(descriptions: $0) }
        Self.forEach("mdia", in: track) { media in
            Self.forEach("minf", in: media) { information in
                Self.forEach("stbl", in: information) { table in
                    var hasAV1 = false
                    Self.forEach("stsd", in: table) { descriptions in
                        Self.forEach(nil, in: descriptions, from: 8) { entry in
                            add(1, of: descriptions)
                            addBoxes(of: entry, from: VisualSampleEntry.fieldBytes)
                            if entry.type == "av01" { hasAV1 = true }
                        }
                    }
                    if hasAV1 { sampleTables.append(table) }
                    // It goes through all runs of chunks for each chunk.
                    Self.forEach("stsc", in: table) { box throws(ImageError) in
                        var reader = box.reader
                        _ = try reader.fullBox()
                        add(try reader.uint32(), of: box)
                    }
                }
            }
        }
    }

    private mutating func add(descriptions meta: MediaBox) {
        Self.forEach("iinf", in: meta, from: 4) { box throws(ImageError) in
            var reader = box.reader
            add(try reader.fullBox().version == 0 ? reader.uint16() : reader.uint32(), of: box)
        }
        var inner: UnsafeRawBufferPointer?
        Self.forEach("idat", in: meta, from: 4) { inner = inner ?? $0.contents }
        var numbers: Set<Int> = []
        Self.forEach("iloc", in: meta, from: 4) { box throws(ImageError) in
            try add(places: box, inner: inner, &numbers)
        }
        Self.forEach("iprp", in: meta, from: 4) { properties in
            Self.forEach("ipco", in: properties) { addBoxes(of: $0) }
            Self.forEach("ipma", in: properties) { box throws(ImageError) in
                var reader = box.reader
                _ = try reader.fullBox()
                add(try reader.uint32(), of: box)
            }
        }
        Self.forEach("iref", in: meta, from: 4) { references throws(ImageError) in
            var reader = references.reader
            let isShort = try reader.fullBox().version == 0
            try references.forEachBox(from: 4) { box throws(ImageError) in
                var reader = box.reader
                try reader.skip(isShort ? 2 : 4)
                let count = try reader.uint16()
                add(1 + count, of: references)
                if box.type == "dimg" { tileCount += count }
            }
        }
    }

    /// Reads the places of items (ISO/IEC 14496-12, section 8.11.3).
    /// - Parameters:
    ///   - inner: The contents of the box `idat`.
    ///   - numbers: The numbers of the items before.
    private mutating func add(
        places box: MediaBox, inner: UnsafeRawBufferPointer?, _ numbers: inout Set<Int>
    ) throws(ImageError) {
        func number(_ bytes: Int, _ reader: inout BoxReader) throws(ImageError) -> Int {
            Int(clamping: try reader.take(bytes).reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
        }
        var reader = box.reader
        let version = try reader.fullBox().version
        let sizes = try reader.uint16()
        let count = version < 2 ? try reader.uint16() : try reader.uint32()
        add(count, of: box)
        for _ in 0..<min(count, Self.maximumItems) {
            if !numbers.insert(version < 2 ? try reader.uint16() : try reader.uint32()).inserted { hasTwoPlaces = true }
            let method = version == 0 ? 0 : try reader.uint16() & 15
            // The number of a file.
            try reader.skip(2)
            let base = try number(sizes >> 4 & 15, &reader)
            let partCount = try reader.uint16()
            parts += partCount
            guard parts <= Self.maximumParts else { return }
            let source = method == 1 ? inner : file
            var item: [UnsafeRawBufferPointer] = []
            for _ in 0..<partCount {
                try reader.skip(version == 0 ? 0 : sizes & 15)
                let offset = base.addingReportingOverflow(try number(sizes >> 12, &reader))
                let length = try number(sizes >> 8 & 15, &reader)
                if let source, !offset.overflow, offset.partialValue <= source.count {
                    item.append(
                        UnsafeRawBufferPointer(rebasing: source[offset.partialValue...].prefix(length)))
                }
                guard partCount > 1 else { continue }
                let (sum, overflow) = copiedBytes.addingReportingOverflow(length)
                copiedBytes = overflow ? .max : sum
            }
            items.append(item)
        }
    }

    /// Counts the boxes within, each of which is a property.
    private mutating func addBoxes(of box: MediaBox, from offset: Int = 0) {
        Self.forEach(nil, in: box, from: offset) { _ in entries["property", default: 0] += 1 }
    }

    private mutating func add(_ count: Int, of box: MediaBox) { entries[box.type, default: 0] += count }

    /// Gives the boxes of a type, or all, up to a damaged box, where libavif ends too.
    private static func forEach(
        _ type: String?, in box: MediaBox, from offset: Int = 0, _ body: (MediaBox) throws(ImageError) -> Void
    ) {
        try? box.forEachBox(from: offset) { box throws(ImageError) in
            if type == nil || box.type == type { try body(box) }
        }
    }
}
#endif
