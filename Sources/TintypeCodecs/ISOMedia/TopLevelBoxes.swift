#if AVIF || HEIF || JXL
/// The outermost boxes of an ISO base media file (ISO/IEC 14496-12, section 4.2) or of its start.
struct TopLevelBoxes {
    struct Box {
        /// Four letters.
        var type: String
        /// The part of the contents that is there.
        var payload: Range<Int>
        var isComplete: Bool
    }

    private(set) var boxes: [Box] = []
    /// The length of the file that its boxes state; at least the bytes that are there.
    private(set) var length: Int
    /// True if the bytes end before the last announced box does. Bytes that some program appended to a whole file look the same.
    private(set) var endsEarly = false

    /// No file has more boxes at its outermost level.
    static let maximumCount = 10_000

    init(_ bytes: UnsafeRawBufferPointer) {
        length = bytes.count
        var offset = 0
        while offset < bytes.count, boxes.count < Self.maximumCount {
            guard let box = Self.header(bytes, at: offset) else {
                endsEarly = true
                return
            }
            // A box that cannot hold its own header: the file is broken, not cut.
            guard box.size >= box.headerSize else { return }
            let (end, overflow) = offset.addingReportingOverflow(box.size)
            guard !overflow else { return }
            boxes.append(
                Box(
                    type: box.type, payload: min(offset + box.headerSize, bytes.count)..<min(end, bytes.count),
                    isComplete: end <= bytes.count))
            if end > bytes.count {
                endsEarly = true
                length = end
            }
            offset = end
        }
    }

    private static func header(
        _ bytes: UnsafeRawBufferPointer, at offset: Int
    ) -> (type: String, size: Int, headerSize: Int)? {
        guard let size = bytes.bigEndian32(at: offset), bytes.count - offset >= 8 else { return nil }
        let type = String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self)
        switch size {
        case 0: return (type, bytes.count - offset, 8)  // to the end of the file
        case 1:
            guard let high = bytes.bigEndian32(at: offset + 8), let low = bytes.bigEndian32(at: offset + 12) else {
                return nil
            }
            return (type, high < 1 << 31 ? high << 32 | low : 0, 16)
        default: return (type, size, 8)
        }
    }

    /// The first box of a type.
    func first(_ type: String) -> Box? { boxes.first { $0.type == type } }
}
#endif
