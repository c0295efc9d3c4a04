internal import FoundationEssentials
internal import TintypeImages

/// Edits an Exif block in place, so that unchanged parts keep their offsets: makers' notes contain offsets that only their
/// makers understand.
struct ExifEditor {
    private(set) var bytes: [UInt8]
    private let isLittleEndian: Bool

    /// - Returns: `nil` for a block whose first directory cannot be read.
    init?(_ block: Data) {
        // A program may have put a prefix in front of the block.
        guard let block = block.exifBlock else { return nil }
        let isLittleEndian = block.withUnsafeBytes { bytes in
            ExifReader(bytes).flatMap { $0.main == nil ? nil : $0.isLittleEndian }
        }
        guard let isLittleEndian else { return nil }
        self.isLittleEndian = isLittleEndian
        bytes = [UInt8](block)
    }

    /// A block that says that the image is upright, and nothing else.
    init() {
        isLittleEndian = true
        bytes = [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    }

    var data: Data { Data(bytes) }

    private func reading<Value>(_ body: (ExifReader) -> Value?) -> Value? {
        bytes.withUnsafeBytes { ExifReader($0).flatMap(body) }
    }

    // MARK: The changes that an encoder has made to the pixels

    /// States that the image is upright wherever the block states an orientation, of any type.
    mutating func setUpright() {
        for entry in reading({ $0.orientationEntries }) ?? [] {
            putEntry(ExifTag.orientation, ExifType.short, 1, at: entry)
        }
    }

    /// States the image's size, where the block has a size.
    mutating func setSize(_ size: PixelSize) {
        for (tag, side) in [(ExifTag.width, size.width), (ExifTag.height, size.height)] {
            setNumber(side, of: reading { $0.main?[tag] })
        }
        for (tag, side) in [(ExifTag.pixelWidth, size.width), (ExifTag.pixelHeight, size.height)] {
            setNumber(side, of: reading { $0.child(ExifTag.exif)?[tag] })
        }
    }

    /// States that the pixels are sRGB, where the block states a color space (Exif 2.32, sections 4.6.5 and 4.6.7).
    mutating func setSRGB() {
        setNumber(1, of: reading { $0.child(ExifTag.exif)?[ExifTag.colorSpace] })
        let index = reading { reader in
            reader.child(ExifTag.exif)
                .flatMap { reader.child(ExifTag.interoperability, of: $0)?[ExifTag.interoperabilityIndex] }
        }
        guard let index, index.type == ExifType.ascii, index.value.count == 4 else { return }
        // The text is “R03” for Adobe RGB.
        bytes.replaceSubrange(index.value, with: Array("R98\0".utf8))
    }

    /// Takes out the thumbnail, which shows the source; bytes behind the remaining values are cut off.
    mutating func removeThumbnail() {
        guard let main = reading({ $0.main }) else { return }
        let used = (reading { $0.usedRanges } ?? []).merged
        // Both are in order, and there may be many of them: each is looked at once.
        var next = 0
        for range in (reading { $0.thumbnailRanges } ?? []).merged {
            var rest = range.lowerBound
            while next < used.count, used[next].upperBound <= rest { next += 1 }
            var place = next
            while place < used.count, used[place].lowerBound < range.upperBound {
                clear(rest..<max(rest, used[place].lowerBound))
                rest = max(rest, used[place].upperBound)
                place += 1
            }
            next = max(next, place - 1)
            clear(rest..<max(rest, range.upperBound))
        }
        if let link = main.link { put(0, at: link, bytes: 4) }
        if let end = used.last?.upperBound, end < bytes.count { bytes.removeSubrange(end...) }
    }

    /// Puts a thumbnail of JPEG into a second directory (Exif 2.32, section 4.6.3), in place of any other.
    mutating func setThumbnail(_ jpeg: Data) {
        removeThumbnail()
        guard let main = reading({ $0.main }), let link = main.link else { return }
        if bytes.count % 2 == 1 { bytes.append(0) }
        let start = bytes.count
        // Six entries, then 72 dots an inch, twice, then the picture.
        let resolution = start + 2 + 6 * 12 + 4
        let picture = resolution + 8
        append(6, bytes: 2)
        appendEntry(ExifTag.compression, ExifType.short, 6)
        appendEntry(ExifTag.xResolution, ExifType.rational, resolution)
        appendEntry(ExifTag.yResolution, ExifType.rational, resolution)
        appendEntry(ExifTag.resolutionUnit, ExifType.short, 2)
        appendEntry(ExifTag.thumbnailOffset, ExifType.long, picture)
        appendEntry(ExifTag.thumbnailLength, ExifType.long, jpeg.count)
        append(0, bytes: 4)
        append(72, bytes: 4)
        append(1, bytes: 4)
        bytes += jpeg
        put(start, at: link, bytes: 4)
    }

    // MARK: Bytes

    private mutating func clear(_ range: Range<Int>) {
        for place in range.clamped(to: 0..<bytes.count) { bytes[place] = 0 }
    }

    private mutating func setNumber(_ number: Int, of entry: ExifReader.Entry?) {
        guard let entry, !entry.value.isEmpty else { return }
        switch entry.type {
        case ExifType.short where number <= 0xFFFF: put(number, at: entry.value.lowerBound, bytes: 2)
        case ExifType.long: put(number, at: entry.value.lowerBound, bytes: 4)
        default: break
        }
    }

    private mutating func appendEntry(_ tag: Int, _ type: Int, _ value: Int) {
        bytes += [UInt8](repeating: 0, count: 12)
        putEntry(tag, type, value, at: bytes.count - 12)
    }

    /// Writes an entry of one number over 12 bytes.
    private mutating func putEntry(_ tag: Int, _ type: Int, _ value: Int, at offset: Int) {
        put(tag, at: offset, bytes: 2)
        put(type, at: offset + 2, bytes: 2)
        put(1, at: offset + 4, bytes: 4)
        // A SHORT stands in the first two of the four bytes.
        put(0, at: offset + 8, bytes: 4)
        put(value, at: offset + 8, bytes: type == ExifType.short ? 2 : 4)
    }

    private mutating func append(_ number: Int, bytes count: Int) {
        bytes += [UInt8](repeating: 0, count: count)
        put(number, at: bytes.count - count, bytes: count)
    }

    private mutating func put(_ number: Int, at offset: Int, bytes count: Int) {
        guard offset >= 0, offset + count <= bytes.count else { return }
        for place in 0..<count {
            let shift = 8 * (isLittleEndian ? place : count - 1 - place)
            bytes[offset + place] = UInt8(truncatingIfNeeded: number >> shift)
        }
    }
}

extension ExifReader {
    /// The directory that an entry of the first directory leads to.
    func child(_ tag: Int) -> Directory? { main.flatMap { child(tag, of: $0) } }

    func child(_ tag: Int, of directory: Directory) -> Directory? {
        number(directory[tag]).flatMap { self.directory($0) }
    }

    /// The ranges that belong to the image itself, and not to its thumbnail.
    fileprivate var usedRanges: [Range<Int>] {
        guard let main else { return [] }
        var directories = [main]
        for tag in [ExifTag.exif, ExifTag.gps] {
            guard let child = child(tag) else { continue }
            directories.append(child)
            if let inner = self.child(ExifTag.interoperability, of: child) { directories.append(inner) }
        }
        return directories.flatMap { directory in [directory.range] + directory.entries.map(\.value) }
    }

    /// The second directory, and the picture that it names.
    fileprivate var thumbnailRanges: [Range<Int>] {
        guard let next = main?.next, let directory = directory(next) else { return [] }
        var ranges = [directory.range] + directory.entries.map(\.value)
        if let thumbnail { ranges.append(thumbnail) }
        if let start = number(directory[ExifTag.stripOffsets]), let length = number(directory[ExifTag.stripLengths]),
            start >= 8, start + length <= bytes.count
        {
            ranges.append(start..<start + length)
        }
        return ranges
    }
}

extension [Range<Int>] {
    /// The same numbers in ranges that are in order and do not touch.
    fileprivate var merged: [Range<Int>] {
        var result: [Range<Int>] = []
        for range in sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
            if let last = result.last, range.lowerBound <= last.upperBound {
                result[result.count - 1] = last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
            } else {
                result.append(range)
            }
        }
        return result
    }
}

extension Data {
    /// An Exif block as it is written beside pixels that are upright, of a size, and without their source's thumbnail; `nil` if
    /// the block makes no sense.
    /// - Parameters:
    ///   - size: The size of the pixels.
    ///   - isSRGB: Whether the pixels are sRGB, whatever the source's were.
    func uprightExif(of size: PixelSize, isSRGB: Bool = false) -> Data? {
        guard var editor = ExifEditor(self) else { return nil }
        editor.setUpright()
        editor.setSize(size)
        if isSRGB { editor.setSRGB() }
        editor.removeThumbnail()
        return editor.data
    }
}
