#if AVIF
internal import TintypeImages

/// The number of items that a file describes. libavif 0.11 goes through all items for each entry of these boxes, in a call that can't be
/// canceled.
struct AVIFItemCount {
    /// Entries by the type of their box. Entries of any of these boxes make items.
    private var entries: [String: Int] = [:]

    /// Real files have up to a few hundred, for the tiles of a grid and of its transparency. libavif has a decoder for each tile at once,
    /// which takes 400 KB: 9,900 tiles took 4 GB.
    static let maximum = 1_000

    /// - Throws: ``ImageError/Code/limitExceeded``.
    static func check(_ file: UnsafeRawBufferPointer, _ boxes: TopLevelBoxes) throws(ImageError) {
        // Boxes behind these aren't looked at.
        guard boxes.boxes.count < TopLevelBoxes.maximumCount else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the AVIF file has more than \(TopLevelBoxes.maximumCount) boxes")
        }
        var count = AVIFItemCount()
        for box in boxes.boxes where box.isComplete {
            let contents = MediaBox(type: box.type, contents: UnsafeRawBufferPointer(rebasing: file[box.payload]))
            switch box.type {
            case "meta": count.add(descriptions: contents)
            // Tracks may describe items of their own.
            case "moov":
                Self.forEach("trak", in: contents) { track in
                    Self.forEach("meta", in: track) { count.add(descriptions: $0) }
                }
            default: break
            }
        }
        let most = count.entries.values.max() ?? 0
        guard most <= maximum else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the AVIF file describes \(most) items, over the limit of \(maximum)")
        }
    }

    private mutating func add(descriptions meta: MediaBox) {
        Self.forEach("iinf", in: meta, from: 4) { box throws(ImageError) in
            var reader = box.reader
            add(try reader.fullBox().version == 0 ? reader.uint16() : reader.uint32(), of: box)
        }
        Self.forEach("iloc", in: meta, from: 4) { box throws(ImageError) in
            var reader = box.reader
            let version = try reader.fullBox().version
            try reader.skip(2)
            add(version < 2 ? try reader.uint16() : try reader.uint32(), of: box)
        }
        Self.forEach("iprp", in: meta, from: 4) { properties in
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
                add(1 + (try reader.uint16()), of: references)
            }
        }
    }

    private mutating func add(_ count: Int, of box: MediaBox) { entries[box.type, default: 0] += count }

    /// Gives the boxes of a type up to a damaged box, where libavif ends too.
    private static func forEach(
        _ type: String, in box: MediaBox, from offset: Int = 0, _ body: (MediaBox) throws(ImageError) -> Void
    ) {
        try? box.forEachBox(from: offset) { box throws(ImageError) in
            if box.type == type { try body(box) }
        }
    }
}
#endif
