#if TIFF || RAW
internal import FoundationEssentials
internal import TintypeImages

/// The directories of an Exif block, parsed so that they can be reassembled elsewhere.
///
/// A TIFF file has no Exif block. Its contents are spread over the file's own directory and those that it refers to (Exif 2.32,
/// section 4.5.2). Everything is preserved but what describes the file's way of holding pixels. Offsets within makers' notes, which only
/// their makers understand, become invalid.
struct ExifTree: Equatable {
    struct Entry: Equatable {
        var tag: Int
        var type: Int
        /// The value in little-endian order.
        var value: [UInt8]
    }

    var entries: [Entry] = []
    /// The directories that entries lead to, by the entry's tag.
    var children: [Int: ExifTree] = [:]

    /// The directories of a block, or the part of a TIFF file's directories that describes the picture as such.
    /// - Parameter directory: The directory of a page; `nil` for the first one.
    /// - Returns: `nil` if there is nothing of the kind but an orientation, which every file may have.
    init?(_ reader: ExifReader, _ directory: ExifReader.Directory? = nil) {
        guard let main = directory ?? reader.main else { return nil }
        var room = Self.maximumBytes
        self.init(reader, main, children: [ExifTag.exif, ExifTag.gps], room: &room) { tag in
            !Self.structural.contains { $0.contains(tag) }
        }
        guard !children.isEmpty || entries.contains(where: { $0.tag != ExifTag.orientation }) else { return nil }
    }

    /// Values beyond this are left out: entries may name the same bytes many times over.
    private static let maximumBytes = ImageMetadata.maximumBlockBytes
    /// The most entries of a directory, of which a camera writes some dozens: readers refuse large directories.
    private static let maximumEntries = 512

    /// The tags of a page's directory that describe the file's way of holding pixels, and blocks that have fields of their own in
    /// ``ImageMetadata``.
    private static let structural: [ClosedRange<Int>] = [
        // Kinds, sizes, depths, color models, compressions, and places of pixels (TIFF 6.0, and its supplements), and the page's number.
        0x00FE...0x010A, 0x0111...0x0111, 0x0115...0x0119, 0x011C...0x011C, 0x0120...0x0125, 0x0129...0x0129,
        0x012C...0x012D, 0x013D...0x0214,
        // Rows of strips to XMP; private tags around the copyright: halftones, mosaics, scales, geography, IPTC, Photoshop, ICC.
        0x022F...0x02BC, 0x8001...0x8297, 0x82A5...0x87B1,
        // Leaf's and Kodak's directories, and the one of interoperability, which belongs to Exif's.
        0x888A...0x888A, 0xA005...0xA005, 0xFE00...0xFE00,
        // Photoshop's layers, GDAL, padding, JPEG XR, and the raw pictures of Canon and DNG.
        0x935C...0x935C, 0xA480...0xA481, 0xBC00...0xBCFF, 0xC5D8...0xCFFF, 0xEA1C...0xEA1D,
    ]

    private init(
        _ reader: ExifReader, _ directory: ExifReader.Directory, children tags: [Int], room: inout Int,
        where isKept: (Int) -> Bool
    ) {
        for entry in directory.entries where isKept(entry.tag) && !tags.contains(entry.tag) {
            // A block has none of the types of BigTIFF. Where other directories lie isn't where they lay.
            guard ExifType.size(entry.type) != nil, entry.type != ExifType.directory, entry.value.count <= room,
                entries.count < Self.maximumEntries
            else { continue }
            room -= entry.value.count
            entries.append(Entry(tag: entry.tag, type: entry.type, value: Self.value(of: entry, reader)))
        }
        for tag in tags {
            guard let child = reader.child(tag, of: directory) else { continue }
            let inner = tag == ExifTag.exif ? [ExifTag.interoperability] : []
            children[tag] = ExifTree(reader, child, children: inner, room: &room) { _ in true }
        }
    }

    private static func value(of entry: ExifReader.Entry, _ reader: ExifReader) -> [UInt8] {
        var value = [UInt8](reader.bytes[entry.value])
        let unit = ExifType.unit(entry.type)
        guard !reader.isLittleEndian, unit > 1 else { return value }
        for start in stride(from: 0, to: value.count, by: unit) { value[start..<start + unit].reverse() }
        return value
    }

    /// The block, little-endian.
    var block: Data {
        var data = Data([0x49, 0x49, 0x2A, 0, 0, 0, 0, 0])
        let start = append(to: &data)
        data.put(littleEndian: start, at: 4)
        return data
    }

    /// Writes the directories at the end of little-endian bytes.
    /// - Parameters:
    ///   - others: entries of 12 bytes that stand in the first directory too, by their tags.
    /// - Returns: where the first directory starts.
    func append(to data: inout Data, with others: [Int: Data] = [:]) -> Int {
        var fields = others
        for entry in entries where fields[entry.tag] == nil {
            let count = entry.value.count / (ExifType.size(entry.type) ?? 1)
            fields[entry.tag] = Self.field(entry.tag, entry.type, count, entry.value, &data)
        }
        for (tag, child) in children where fields[tag] == nil {
            let offset = child.append(to: &data)
            var value = Data()
            value.append(littleEndian: offset, bytes: 4)
            fields[tag] = Self.field(tag, ExifType.long, 1, [UInt8](value), &data)
        }
        if data.count % 2 == 1 { data.append(0) }
        let start = data.count
        data.append(littleEndian: fields.count, bytes: 2)
        for (_, field) in fields.sorted(by: { $0.key < $1.key }) { data += field }
        data.append(littleEndian: 0, bytes: 4)
        return start
    }

    /// The 12 bytes of an entry, whose value is written before if it is long.
    private static func field(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8], _ data: inout Data) -> Data {
        var field = Data()
        field.append(littleEndian: tag, bytes: 2)
        field.append(littleEndian: type, bytes: 2)
        field.append(littleEndian: count, bytes: 4)
        if value.count <= 4 {
            field += value + [UInt8](repeating: 0, count: 4 - value.count)
        } else {
            if data.count % 2 == 1 { data.append(0) }
            field.append(littleEndian: data.count, bytes: 4)
            data += value
        }
        return field
    }
}

extension Data {
    fileprivate mutating func append(littleEndian number: Int, bytes: Int) {
        for place in 0..<bytes { append(UInt8(truncatingIfNeeded: number >> (8 * place))) }
    }

    /// Writes a number of four bytes over the present bytes.
    fileprivate mutating func put(littleEndian number: Int, at offset: Int) {
        for place in 0..<4 { self[startIndex + offset + place] = UInt8(truncatingIfNeeded: number >> (8 * place)) }
    }

    /// A TIFF file, little-endian and of 32-bit offsets, whose first directory has the entries of an Exif block too.
    ///
    /// The directory is written again at the end; the old directory stays as bytes that nothing leads to.
    /// - Returns: `nil` if the file is of another kind, or the block says nothing that belongs there.
    func addingToTIFF(exif: Data) -> Data? {
        guard var tree = exif.withUnsafeBytes({ ExifReader($0).flatMap { ExifTree($0) } }) else { return nil }
        // The file has an orientation of its own.
        tree.entries.removeAll { $0.tag == ExifTag.orientation }
        let fields = withUnsafeBytes { bytes -> [Int: Data]? in
            guard let reader = ExifReader(bytes), reader.isLittleEndian, let main = reader.main else { return nil }
            return Dictionary(main.entries.map { ($0.tag, bytes.data($0.offset..<$0.offset + 12)) }) { first, _ in first
            }
        }
        guard let fields, count < Int(UInt32.max) - exif.count - (1 << 20) else { return nil }
        var file = self
        let start = tree.append(to: &file, with: fields)
        file.put(littleEndian: start, at: 4)
        return file
    }
}
#endif
