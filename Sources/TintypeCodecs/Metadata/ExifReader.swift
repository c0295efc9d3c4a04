internal import FoundationEssentials

/// Reads the directories of an Exif block, or of a TIFF file (TIFF 6.0, section 2; Exif 2.32, section 4.6).
///
/// Nothing is believed: an entry whose value lies beyond the bytes is left out.
struct ExifReader {
    struct Entry {
        /// The start of the entry's 12 bytes, or 20 in BigTIFF.
        var offset: Int
        var tag: Int
        var type: Int
        /// The place of the value: in the entry itself if it has at most four bytes, or eight in BigTIFF.
        var value: Range<Int>
    }

    struct Directory {
        /// The entries with their count, and the offset of the next directory.
        var range: Range<Int>
        var entries: [Entry]
        /// The place of the offset of the next directory; `nil` if the bytes end before it.
        var link: Int?
        /// The start of the next directory; 0 if there is none.
        var next: Int

        subscript(_ tag: Int) -> Entry? { entries.first { $0.tag == tag } }
    }

    let bytes: UnsafeRawBufferPointer
    let isLittleEndian: Bool
    /// True for BigTIFF, whose counts and offsets have eight bytes.
    private let isBig: Bool

    /// - Parameter allowsBigTIFF: True for a file, which may have 64-bit offsets. A block of Exif has 32-bit offsets.
    /// - Returns: `nil` unless the bytes start like a TIFF file.
    init?(_ bytes: UnsafeRawBufferPointer, allowsBigTIFF: Bool = false) {
        switch (bytes.bigEndian16(at: 0), bytes.bigEndian16(at: 2)) {
        case (0x4949, 0x2A00): (isLittleEndian, isBig) = (true, false)
        case (0x4D4D, 0x002A): (isLittleEndian, isBig) = (false, false)
        case (0x4949, 0x2B00) where allowsBigTIFF: (isLittleEndian, isBig) = (true, true)
        case (0x4D4D, 0x002B) where allowsBigTIFF: (isLittleEndian, isBig) = (false, true)
        default: return nil
        }
        self.bytes = bytes
    }

    func short(_ offset: Int) -> Int? {
        bytes.bigEndian16(at: offset).map { isLittleEndian ? Int(UInt16($0).byteSwapped) : $0 }
    }

    func long(_ offset: Int) -> Int? {
        bytes.bigEndian32(at: offset).map { isLittleEndian ? Int(UInt32($0).byteSwapped) : $0 }
    }

    /// A number of eight bytes; `nil` for one that no count or offset within the bytes can be.
    private func quad(_ offset: Int) -> Int? {
        guard let first = long(offset), let second = long(offset + 4) else { return nil }
        let (high, low) = isLittleEndian ? (second, first) : (first, second)
        guard high < 1 << 30 else { return nil }
        let number = high << 32 | low
        return number <= bytes.count ? number : nil
    }

    /// A count or an offset, of four bytes or eight.
    private func word(_ offset: Int) -> Int? { isBig ? quad(offset) : long(offset) }

    /// The directory of the image itself.
    var main: Directory? { word(isBig ? 8 : 4).flatMap(directory) }

    /// The places of the entries of 12 bytes in a block that state the orientation, whatever their types and counts are, and also if the
    /// bytes end within the directory.
    var orientationEntries: [Int] {
        guard let start = long(4), start >= 8, let count = short(start) else { return [] }
        var places: [Int] = []
        for index in 0..<count {
            let place = start + 2 + index * 12
            guard let tag = short(place), short(place + 2) != nil else { break }
            if tag == ExifTag.orientation { places.append(place) }
        }
        return places
    }

    /// - Returns: `nil` if the directory does not lie within the bytes.
    /// - Complexity: O(entries)
    func directory(_ offset: Int) -> Directory? {
        guard offset >= 8, let count = isBig ? quad(offset) : short(offset), (1..<1 << 16).contains(count) else {
            return nil
        }
        let (start, entryBytes) = (offset + (isBig ? 8 : 2), isBig ? 20 : 12)
        let end = start + count * entryBytes
        guard end <= bytes.count else { return nil }
        let entries = (0..<count).compactMap { entry(start + $0 * entryBytes) }
        let next = word(end)
        return Directory(
            range: offset..<(next == nil ? end : end + (isBig ? 8 : 4)), entries: entries,
            link: next.map { _ in end }, next: next ?? 0)
    }

    private func entry(_ offset: Int) -> Entry? {
        guard let tag = short(offset), let type = short(offset + 2), let count = word(offset + 4),
            let size = ExifType.size(type) ?? (isBig ? ExifType.bigSize(type) : nil)
        else { return nil }
        let length = size * count
        let field = offset + (isBig ? 12 : 8)
        guard length > (isBig ? 8 : 4) else {
            return Entry(offset: offset, tag: tag, type: type, value: field..<field + length)
        }
        guard let start = word(field), start >= 8, start + length <= bytes.count else { return nil }
        return Entry(offset: offset, tag: tag, type: type, value: start..<start + length)
    }

    /// The first number of an entry of SHORT or LONG; not a negative one of SLONG.
    func number(_ entry: Entry?) -> Int? {
        guard let entry, !entry.value.isEmpty else { return nil }
        switch entry.type {
        case ExifType.short: return short(entry.value.lowerBound)
        case ExifType.long, ExifType.directory: return long(entry.value.lowerBound)
        case ExifType.bigLong, ExifType.bigDirectory: return quad(entry.value.lowerBound)
        // A mistake of some writers.
        case ExifType.signedLong: return long(entry.value.lowerBound).flatMap { $0 <= Int32.max ? $0 : nil }
        default: return nil
        }
    }

    /// The thumbnail that the second directory names (Exif 2.32, section 4.5.8), as JPEG.
    var thumbnail: Range<Int>? {
        guard let next = main?.next, let directory = directory(next),
            let start = number(directory[ExifTag.thumbnailOffset]),
            let length = number(directory[ExifTag.thumbnailLength]), start >= 8, length > 0,
            start + length <= bytes.count
        else { return nil }
        return start..<start + length
    }
}

/// The types of values.
enum ExifType {
    static let byte = 1, ascii = 2, short = 3, long = 4, rational = 5, directory = 13
    static let signedByte = 6, signedShort = 8, signedLong = 9, signedRational = 10, float = 11
    /// The types of BigTIFF.
    static let bigLong = 16, signedBigLong = 17, bigDirectory = 18

    /// The bytes of a value; `nil` for a type that does not exist.
    static func size(_ type: Int) -> Int? {
        switch type {
        // 129 is text in UTF-8 (Exif 3.0, section 4.6.2).
        case 1, 2, 6, 7, 129: 1
        case 3, 8: 2
        case 4, 9, 11, 13: 4
        case 5, 10, 12: 8
        default: nil
        }
    }

    /// The bytes of a value of BigTIFF's own types; `nil` for any other.
    static func bigSize(_ type: Int) -> Int? { (bigLong...bigDirectory).contains(type) ? 8 : nil }

    /// The bytes that change places with the byte order.
    static func unit(_ type: Int) -> Int { type == 5 || type == 10 ? 4 : size(type) ?? 1 }
}

/// The tags that mean something here.
enum ExifTag {
    static let width = 0x0100, height = 0x0101, compression = 0x0103, orientation = 0x0112
    static let stripOffsets = 0x0111, stripLengths = 0x0117
    static let xResolution = 0x011A, yResolution = 0x011B, resolutionUnit = 0x0128
    static let thumbnailOffset = 0x0201, thumbnailLength = 0x0202
    static let colorSpace = 0xA001, pixelWidth = 0xA002, pixelHeight = 0xA003
    /// In the directory of interoperability.
    static let interoperabilityIndex = 0x0001
    /// The entries that hold the offset of a directory.
    static let exif = 0x8769, gps = 0x8825, interoperability = 0xA005, makerNote = 0x927C
}
