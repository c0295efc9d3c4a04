internal import FoundationEssentials

/// An Exif block as files carry it: from its TIFF header on, or behind the prefix of JPEG's segment, the offset of the header in four bytes
/// (ISO/IEC 23008-12, annex A), or both. Writers state the offset with and without the prefix, and leave either out.
extension UnsafeRawBufferPointer {
    /// The longest prefix of a block. Real ones have at most ten bytes.
    private static let longestExifPrefix = 64

    /// The place of an Exif block within a part, which must lie within the buffer, from the block's TIFF header on; `nil` if there is none.
    func exifBlock(in part: Range<Int>) -> Range<Int>? {
        let start = part.prefix(Self.longestExifPrefix + 1).first { place in
            guard place + 4 <= part.upperBound else { return false }
            // `II*\0` and `MM\0*`.
            return bigEndian32(at: place) == 0x4949_2A00 || bigEndian32(at: place) == 0x4D4D_002A
        }
        return start.map { $0..<part.upperBound }
    }
}

extension Data {
    /// The Exif block within these bytes, from its TIFF header on; `nil` if there is none.
    var exifBlock: Data? {
        withUnsafeBytes { bytes in bytes.exifBlock(in: 0..<bytes.count).map { bytes.data($0) } }
    }
}
