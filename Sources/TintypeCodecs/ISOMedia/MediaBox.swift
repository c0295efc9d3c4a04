#if AVIF || HEIF
internal import TintypeImages

/// A box within another (ISO/IEC 14496-12, section 4.2). Valid as long as the bytes of the file.
struct MediaBox {
    /// Four letters.
    let type: String
    let contents: UnsafeRawBufferPointer

    var reader: BoxReader { BoxReader(contents) }

    /// The most boxes within another. The largest grid of a HEIF file has 65,536 tiles, each with a box.
    private static let maximumCount = 1 << 18

    /// The boxes within.
    /// - Parameter offset: the number of bytes of fields before the first of them.
    /// - Throws: ``ImageError/Code/corruptImage`` if any of them reaches beyond this box.
    func boxes(from offset: Int = 0) throws(ImageError) -> [MediaBox] {
        var boxes: [MediaBox] = []
        try forEachBox(from: offset) { box throws(ImageError) in
            guard boxes.count < Self.maximumCount else {
                throw .corrupt("the '\(type)' box has more than \(Self.maximumCount) boxes")
            }
            boxes.append(box)
        }
        return boxes
    }

    /// Gives the boxes within, up to a box that reaches beyond this box.
    /// - Parameter offset: the number of bytes of fields before the first of them.
    /// - Throws: ``ImageError/Code/corruptImage`` if any of them reaches beyond this box.
    func forEachBox(
        from offset: Int = 0, _ body: (MediaBox) throws(ImageError) -> Void
    ) throws(ImageError) {
        var reader = reader
        try reader.skip(offset)
        // Less than a header at the end is filling, as some writers leave it.
        while reader.remaining >= 8 {
            let available = reader.remaining
            var size = try reader.uint32()
            let type = try reader.letters()
            if size == 1 { size = try reader.uint64() } else if size == 0 { size = available }
            let headerSize = available - reader.remaining
            guard size >= headerSize, size <= available else {
                throw .corrupt("the size of the '\(type)' box doesn't fit into the '\(self.type)' box")
            }
            try body(MediaBox(type: type, contents: try reader.take(size - headerSize)))
        }
    }

    /// The first box of a type within; `nil` if there is none.
    func first(_ type: String, from offset: Int = 0) throws(ImageError) -> MediaBox? {
        try boxes(from: offset).first { $0.type == type }
    }

    /// The box that a way of types leads to.
    /// - Throws: ``ImageError/Code/corruptImage`` if there is none.
    func box(_ path: String...) throws(ImageError) -> MediaBox {
        var box = self
        for type in path {
            guard let next = try box.first(type) else {
                throw .corrupt("the '\(box.type)' box has no '\(type)' box")
            }
            box = next
        }
        return box
    }
}
#endif
