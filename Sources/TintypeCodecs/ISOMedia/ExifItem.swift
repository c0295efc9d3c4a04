#if HEIF || JXL
internal import FoundationEssentials

/// Exif as boxes carry it: the offset of the TIFF header, in four bytes, comes first (ISO/IEC 23008-12, annex A).
enum ExifItem {
    /// The block from its TIFF header on; `nil` if there is none.
    static func block(_ item: Data) -> Data? {
        let offset = item.withUnsafeBytes { $0.bigEndian32(at: 0) }
        guard let offset, offset < item.count - 4 else { return nil }
        return Data(item.dropFirst(4 + offset))
    }
}
#endif
