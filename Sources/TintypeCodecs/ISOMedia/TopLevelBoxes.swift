#if AVIF || HEIF
/// The outermost boxes of an ISO base media file (ISO/IEC 14496-12, section 4.2).
enum TopLevelBoxes {
    /// Where the last box ends that the bytes announce; beyond the bytes if the file is cut. `nil` if they end in a box's header.
    private static func end(_ bytes: UnsafeRawBufferPointer) -> Int? {
        var offset = 0
        while offset < bytes.count {
            guard var size = bytes.bigEndian32(at: offset), bytes.count - offset >= 8 else { return nil }
            if size == 0 { return bytes.count }  // to the end of the file
            if size == 1 {
                guard let high = bytes.bigEndian32(at: offset + 8), let low = bytes.bigEndian32(at: offset + 12) else {
                    return nil
                }
                // What no file has is not cut but broken; so is a box that cannot hold its own header.
                guard high < 1 << 16 else { return bytes.count }
                size = high << 32 | low
            }
            guard size >= 8 else { return bytes.count }
            offset += size
        }
        return offset
    }

    /// How long the file is by what its boxes say; at least the bytes that are there.
    static func length(_ bytes: UnsafeRawBufferPointer) -> Int { max(bytes.count, end(bytes) ?? bytes.count) }

    /// Whether the bytes end before the last box that they announce does.
    ///
    /// Libraries answer a file that is cut with whatever broke first; this tells whether more bytes may help.
    static func isTruncated(_ bytes: UnsafeRawBufferPointer) -> Bool { end(bytes).map { $0 > bytes.count } ?? true }
}
#endif
