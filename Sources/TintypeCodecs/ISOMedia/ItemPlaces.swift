#if AVIF || HEIF
internal import FoundationEssentials
internal import TintypeImages

/// The places of items' bytes: the box `iloc` (ISO/IEC 14496-12, section 8.11.3).
struct ItemPlaces {
    private let file: UnsafeRawBufferPointer
    private let inner: UnsafeRawBufferPointer?
    private let places: [Int: Place]
    private let references: (Int) -> [Int]

    private struct Place {
        /// The construction method: the file, the box `idat`, or other items.
        enum Container: Int { case file, inner, items }

        /// `nil` if the bytes are in another file.
        var container: Container?
        var extents: [Extent]
    }

    private struct Extent {
        /// For bytes in other items, the place of that item among the references, from 1.
        var index: Int
        var offset: Int
        /// A count of 0 is all that follows.
        var count: Int
    }

    /// The most parts of an item that lie in other items, which themselves don't lie in others. No writer is known that makes any.
    private static let maximumParts = 64

    /// The most entries of a box about items. The largest grid has 65,536 tiles, each with a few properties.
    static let maximumEntries = 1 << 18

    static func tooMany(_ what: String) -> ImageError {
        ImageError(
            .limitExceeded, stage: .decode, reason: "the HEIF file has more than \(maximumEntries) \(what)")
    }

    /// - Parameters:
    ///   - file: All bytes of the file.
    ///   - inner: The contents of the box `idat`.
    ///   - references: Returns the items that an item's bytes are in.
    init(
        _ box: MediaBox, file: UnsafeRawBufferPointer, inner: UnsafeRawBufferPointer?,
        references: @escaping (Int) -> [Int]
    ) throws(ImageError) {
        (self.file, self.inner, self.references) = (file, inner, references)
        var reader = box.reader
        let version = try reader.fullBox().version
        let sizes = try reader.uint16()
        let (offsetBytes, countBytes, baseBytes) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
        let indexBytes = version == 0 ? 0 : sizes & 15
        var places: [Int: Place] = [:]
        var room = Self.maximumEntries
        for _ in 0..<(version < 2 ? try reader.uint16() : try reader.uint32()) {
            let item = version < 2 ? try reader.uint16() : try reader.uint32()
            let method = version == 0 ? 0 : try reader.uint16() & 15
            // Bytes in another file aren't read.
            let isElsewhere = try reader.uint16() != 0
            let base = try Self.number(baseBytes, &reader)
            let count = try reader.uint16()
            room -= count + 1
            guard room >= 0 else { throw Self.tooMany("item locations") }
            guard count < 2 || offsetBytes + countBytes > 0 else {
                throw .corrupt("item \(item) of the HEIF file has no location")
            }
            var place = Place(container: isElsewhere ? nil : Place.Container(rawValue: method), extents: [])
            for _ in 0..<count {
                let index = try Self.number(indexBytes, &reader)
                let (offset, overflows) = base.addingReportingOverflow(try Self.number(offsetBytes, &reader))
                place.extents.append(
                    Extent(
                        index: index, offset: overflows ? .max : offset, count: try Self.number(countBytes, &reader)))
            }
            places[item] = place
        }
        self.places = places
    }

    /// A number of 0, 4 or 8 bytes.
    private static func number(_ bytes: Int, _ reader: inout BoxReader) throws(ImageError) -> Int {
        switch bytes {
        case 0: return 0
        case 4: return try reader.uint32()
        case 8: return try reader.uint64()
        default: throw .corrupt("the HEIF file states item locations as numbers of \(bytes) bytes, which isn't valid")
        }
    }

    /// Gives the bytes of an item, copied only if they are in several parts or in other items.
    /// - Throws: ``ImageError/Code/truncatedImage`` if the file ends before them.
    func withBytes<Value>(
        of item: Int, depth: Int = 0, _ body: (UnsafeRawBufferPointer) throws(ImageError) -> Value
    ) throws(ImageError) -> Value {
        guard let place = places[item], let container = place.container, container != .inner || inner != nil else {
            throw .corrupt("the HEIF file doesn't state the location of item \(item)")
        }
        guard container != .items || depth == 0 && place.extents.count <= Self.maximumParts else {
            throw .corrupt("item \(item) of the HEIF file is nested too deeply")
        }
        // Else the parts would be gathered again for each part that lies in them.
        guard depth == 0 || place.extents.count == 1 else {
            throw .corrupt("item \(item) of the HEIF file contains another item, but is stored in several parts")
        }
        if container != .items, place.extents.count == 1 {
            return try body(try Self.part(place.extents[0], of: container == .file ? file : inner, item))
        }
        var bytes = Data()
        for extent in place.extents {
            if container == .items {
                let sources = references(item)
                let index = max(1, extent.index) - 1
                guard index < sources.count else {
                    throw .corrupt("item \(item) of the HEIF file lies in an item that doesn't exist")
                }
                try withBytes(of: sources[index], depth: depth + 1) { source throws(ImageError) in
                    bytes.append(contentsOf: try Self.part(extent, of: source, item))
                }
            } else {
                bytes.append(contentsOf: try Self.part(extent, of: container == .file ? file : inner, item))
            }
            // Parts may overlap; no honest file's are longer than itself.
            guard bytes.count <= file.count else {
                throw .corrupt("item \(item) of the HEIF file is longer than the file")
            }
        }
        return try bytes.withBytes(body)
    }

    /// The offset of the first byte behind the items that are in the file; the largest number if an item lasts to the end of the file.
    var end: Int {
        places.values.reduce(0) { end, place in
            guard place.container == .file else { return end }
            return place.extents.reduce(end) { end, extent in
                let (next, overflows) = extent.offset.addingReportingOverflow(extent.count)
                return extent.count == 0 || overflows ? .max : max(end, next)
            }
        }
    }

    /// The bytes that an item claims to have, and the bytes of the whole file.
    func claimedBytes(of item: Int) -> (item: Int, file: Int) {
        let extents = places[item]?.extents ?? []
        let claimed = extents.reduce(0) { $0 + min($1.count == 0 ? file.count : $1.count, file.count) }
        return (claimed, file.count)
    }

    private static func part(
        _ extent: Extent, of source: UnsafeRawBufferPointer?, _ item: Int
    ) throws(ImageError) -> UnsafeRawBufferPointer {
        let (end, overflows) = extent.offset.addingReportingOverflow(extent.count)
        guard let source, !overflows, extent.offset <= source.count, end <= source.count else {
            throw .truncated("the HEIF file ends before item \(item) is complete")
        }
        return UnsafeRawBufferPointer(rebasing: source[extent.offset..<(extent.count == 0 ? source.count : end)])
    }
}
#endif
