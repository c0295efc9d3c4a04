#if TIFF || RAW
/// The directories of a TIFF or BigTIFF file as its bytes state them, to tell a file that was cut from a damaged file (TIFF 6.0,
/// section 2). libtiff and libraw correct implausible values without a report.
struct TIFFDirectory {
    private struct Entry {
        var type: Int
        var count: Int
        /// The offset of the values.
        var offset: Int
    }

    private let bytes: UnsafeRawBufferPointer
    private let isLittleEndian: Bool
    private let isBig: Bool
    private var entries: [Int: Entry] = [:]
    /// The offset of the next directory; 0 for none.
    private var next = 0
    /// True if the bytes end before the directory and its values do.
    private(set) var isCut = true
    /// The bytes of the values that are there, outside of the directory. Values that share bytes count for each field.
    private(set) var valueBytes = 0

    /// The most strips or tiles that are looked at.
    private static let maximumParts = 1 << 20

    /// Reads the first directory. The bytes must outlive the value.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(bytes, at: nil)
    }

    /// - Parameter offset: The offset of the directory, `nil` for the first directory.
    init(_ bytes: UnsafeRawBufferPointer, at offset: Int?) {
        self.bytes = bytes
        isLittleEndian = bytes.count > 0 && bytes[0] == 0x49
        isBig = Self.number(bytes, 2, 2, isLittleEndian) == 43
        guard let start = offset ?? (isBig ? number(8, 8) : number(4, 4)), let count = number(start, isBig ? 8 : 2),
            count < 1 << 16
        else { return }
        let (countBytes, entryBytes) = isBig ? (8, 20) : (2, 12)
        isCut = false
        for index in 0..<count {
            let place = start + countBytes + index * entryBytes
            guard let tag = number(place, 2), let type = number(place + 2, 2),
                let values = number(place + 4, isBig ? 8 : 4), place + entryBytes <= bytes.count
            else {
                isCut = true
                return
            }
            let field = place + (isBig ? 12 : 8)
            let (size, overflow) = values.multipliedReportingOverflow(by: Self.bytes(ofType: type))
            let isInline = !overflow && size <= (isBig ? 8 : 4)
            guard let offset = isInline ? field : number(field, isBig ? 8 : 4) else { continue }
            // No reader uses values of unknown types.
            if Self.bytes(ofType: type) > 0, overflow || offset > bytes.count - size {
                isCut = true
            } else if !isInline {
                valueBytes += size
            }
            entries[tag] = Entry(type: type, count: values, offset: offset)
        }
        next = number(start + countBytes + count * entryBytes, isBig ? 8 : 4) ?? 0
    }

    /// True if a strip or tile of the directory starts or ends after the last byte.
    var missesPixels: Bool { parts.contains { $0.offset > bytes.count - $0.count } }

    /// The number of the color model; `nil` if the directory states none.
    var photometric: Int? { values(262, limit: 1).first }

    /// True if all strips or tiles of the directory start after the last byte.
    private var missesAllPixels: Bool { !parts.isEmpty && parts.allSatisfy { $0.offset >= bytes.count } }

    /// Returns true if no part of the largest picture in the file is available; in a camera's file that is the sensor's picture.
    static func missesLargestPicture(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var largest = (pixels: 0, isMissing: false)
        for directory in all(bytes) {
            let (width, height) = (
                directory.values(256, limit: 1).first ?? 0, directory.values(257, limit: 1).first ?? 0
            )
            let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
            if !overflow, pixels > largest.pixels, !directory.parts.isEmpty {
                largest = (pixels, directory.missesAllPixels)
            }
        }
        return largest.isMissing
    }

    /// Returns true if the bytes end before a directory of the file, or its values, do.
    static func missesDirectory(_ bytes: UnsafeRawBufferPointer) -> Bool { all(bytes).contains { $0.isCut } }

    /// All directories: the chain from the first, and the directories that each refers to (SubIFDs).
    private static func all(_ bytes: UnsafeRawBufferPointer) -> [TIFFDirectory] {
        let first = TIFFDirectory(bytes)
        // Other camera files start otherwise.
        guard [42, 43].contains(first.number(2, 2)) else { return [] }
        var found = [first]
        var seen: Set<Int> = []
        var index = 0
        while index < found.count, found.count < 64 {
            let directory = found[index]
            for offset in directory.values(330, limit: 16) + [directory.next]
            where offset > 0 && seen.insert(offset).inserted {
                found.append(TIFFDirectory(bytes, at: offset))
            }
            index += 1
        }
        return found
    }

    /// Returns the offsets of the directories in the main chain, which are the pages of the file.
    /// - Parameter limit: the most directories that are followed.
    /// - Returns: the offsets, and true if the bytes end before the chain does. A whole file whose last directory has a wrong place
    ///   of a next one can't be told from a file that is cut.
    /// - Complexity: O(directories)
    static func pages(_ bytes: UnsafeRawBufferPointer, limit: Int) -> (offsets: [Int], areCut: Bool) {
        let isLittleEndian = bytes.count > 0 && bytes[0] == 0x49
        let isBig = number(bytes, 2, 2, isLittleEndian) == 43
        let (countBytes, entryBytes, offsetBytes) = isBig ? (8, 20, 8) : (2, 12, 4)
        var pages: [Int] = []
        var seen: Set<Int> = []
        var next = number(bytes, isBig ? 8 : 4, offsetBytes, isLittleEndian)
        while let page = next, page > 0, pages.count < limit, seen.insert(page).inserted,
            let count = number(bytes, page, countBytes, isLittleEndian), count > 0, count < 1 << 16
        {
            pages.append(page)
            next = number(bytes, page + countBytes + count * entryBytes, offsetBytes, isLittleEndian)
        }
        return (pages, next.map { $0 > bytes.count - countBytes } ?? true)
    }

    /// Returns the number of fields that the directory at an offset states, or 0 if it isn't there.
    static func fieldCount(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        let isLittleEndian = bytes.count > 0 && bytes[0] == 0x49
        let isBig = number(bytes, 2, 2, isLittleEndian) == 43
        return number(bytes, offset, isBig ? 8 : 2, isLittleEndian) ?? 0
    }

    // MARK: Values

    /// The places of the strips, or of the tiles.
    private var parts: [(offset: Int, count: Int)] {
        for (offsets, counts) in [(273, 279), (324, 325)] {
            let offsets = values(offsets, limit: Self.maximumParts)
            let counts = values(counts, limit: Self.maximumParts)
            if !offsets.isEmpty { return Array(zip(offsets, counts).map { (offset: $0, count: $1) }) }
        }
        return []
    }

    /// The numbers of a field, as far as they are there.
    private func values(_ tag: Int, limit: Int) -> [Int] {
        guard let entry = entries[tag], [3, 4, 13, 16, 18].contains(entry.type) else { return [] }
        let size = Self.bytes(ofType: entry.type)
        var numbers: [Int] = []
        for index in 0..<min(entry.count, limit) {
            guard let number = number(entry.offset + index * size, size) else { break }
            numbers.append(number)
        }
        return numbers
    }

    private static func bytes(ofType type: Int) -> Int {
        switch type {
        case 1, 2, 6, 7: 1
        case 3, 8: 2
        case 4, 9, 11, 13: 4
        case 5, 10, 12, 16, 17, 18: 8
        default: 0
        }
    }

    private func number(_ offset: Int, _ size: Int) -> Int? { Self.number(bytes, offset, size, isLittleEndian) }

    private static func number(
        _ bytes: UnsafeRawBufferPointer, _ offset: Int, _ size: Int, _ isLittleEndian: Bool
    ) -> Int? {
        guard offset >= 0, offset <= bytes.count - size else { return nil }
        var value: UInt64 = 0
        for index in 0..<size {
            value = value << 8 | UInt64(bytes[offset + (isLittleEndian ? size - 1 - index : index)])
        }
        return Int(exactly: value)
    }
}
#endif
