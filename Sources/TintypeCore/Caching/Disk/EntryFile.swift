internal import CXXHash
internal import FoundationEssentials

/// The file of one entry: the image's bytes, then what is known of them, then a footer of fixed size.
///
/// The bytes come first so that any viewer opens the file; what follows lets a lost index be made again. Numbers are
/// little-endian. The footer: the checksum of the payload, the checksum of the description, the payload's length (8
/// bytes each), the description's length (4), the version (4), and 8 bytes that mark the end of a complete file.
enum EntryFile {
    static let version: UInt32 = 1
    static let marker: [UInt8] = Array("TINTYPE\n".utf8)
    static let footerSize = 40
    /// More than any description has: keys, types and validators are short, extended data is limited.
    static let maximumDescription = 16 << 20

    /// What the end of a file says.
    struct Footer: Equatable {
        var payloadChecksum: UInt64
        var descriptionChecksum: UInt64
        var payloadSize: Int
        var descriptionSize: Int

        var fileSize: Int { payloadSize + descriptionSize + EntryFile.footerSize }

        /// - Parameter fileSize: the size of the file that the bytes end.
        init?(_ bytes: Data, fileSize: Int) {
            var reader = ByteReader(bytes)
            guard
                let payloadChecksum = reader.integer(UInt64.self),
                let descriptionChecksum = reader.integer(UInt64.self),
                let payloadSize = reader.integer(UInt64.self), let descriptionSize = reader.integer(UInt32.self),
                reader.integer(UInt32.self) == EntryFile.version, reader.bytes(8).map(Array.init) == EntryFile.marker,
                descriptionSize <= EntryFile.maximumDescription, payloadSize <= UInt64(fileSize)
            else { return nil }
            self.payloadChecksum = payloadChecksum
            self.descriptionChecksum = descriptionChecksum
            self.payloadSize = Int(payloadSize)
            self.descriptionSize = Int(descriptionSize)
            guard self.fileSize == fileSize else { return nil }
        }
    }

    /// What follows the payload.
    static func trailer(for entry: DiskCacheEntry, key: ImageKey, checksum: UInt64) -> Data {
        var writer = ByteWriter()
        writer.string(key.source)
        writer.string(key.variant.description)
        writer.integer(entry.created.cacheTime)
        writer.integer(entry.expires?.cacheTime ?? .max)
        writer.string(entry.mimeType)
        writer.string(entry.validators?.entityTag)
        writer.string(entry.validators?.lastModified)
        writer.data(entry.extendedData)
        let description = writer.bytes
        writer.integer(checksum)
        writer.integer(Self.checksum(description))
        writer.integer(UInt64(entry.data.count))
        writer.integer(UInt32(description.count))
        writer.integer(version)
        writer.bytes.append(contentsOf: marker)
        return writer.bytes
    }

    /// What a trailer says of its entry, whose bytes are left empty; `nil` if it is damaged.
    static func read(description bytes: Data, footer: Footer) -> (key: ImageKey, entry: DiskCacheEntry)? {
        guard bytes.count == footer.descriptionSize, checksum(bytes) == footer.descriptionChecksum else { return nil }
        var reader = ByteReader(bytes)
        guard
            let source = reader.string(), let variant = reader.string(), let source, let variant,
            let created = reader.integer(Int64.self), let expires = reader.integer(Int64.self),
            let mimeType = reader.string(), let entityTag = reader.string(), let lastModified = reader.string(),
            let extendedData = reader.data()
        else { return nil }
        let validators = CacheValidators(entityTag: entityTag, lastModified: lastModified)
        let entry = DiskCacheEntry(
            data: Data(), created: Date(cacheTime: created), expires: expires == .max ? nil : Date(cacheTime: expires),
            mimeType: mimeType, validators: validators.isEmpty ? nil : validators, extendedData: extendedData)
        return (ImageKey(source: source, variant: ImageVariant(description: variant)), entry)
    }

    /// XXH3 with 64 bits.
    static func checksum(_ data: Data) -> UInt64 {
        data.withUnsafeBytes { XXH3_64bits($0.baseAddress, $0.count) }
    }
}

extension Date {
    /// Microseconds since 1970, as the index and the files have it; times out of its range are as near as they can be.
    var cacheTime: Int64 {
        let microseconds = (timeIntervalSince1970 * 1e6).rounded()
        return Int64(exactly: microseconds) ?? (microseconds > 0 ? .max - 1 : .min + 1)
    }

    init(cacheTime: Int64) { self.init(timeIntervalSince1970: Double(cacheTime) / 1e6) }
}

/// Puts numbers and strings one behind the other. A string or data that is `nil` has the length of all ones.
private struct ByteWriter {
    var bytes = Data()

    mutating func integer<Value: FixedWidthInteger>(_ value: Value) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func data(_ value: Data?) {
        integer(value.map { UInt32($0.count) } ?? .max)
        if let value { bytes.append(value) }
    }

    mutating func string(_ value: String?) {
        integer(value.map { UInt32($0.utf8.count) } ?? .max)
        if let value { bytes.append(contentsOf: value.utf8) }
    }
}

/// Takes apart what ``ByteWriter`` put together; `nil` where the bytes end too early.
private struct ByteReader {
    private var rest: Data

    init(_ data: Data) { rest = data }

    mutating func bytes(_ count: Int) -> Data? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type) -> Value? {
        bytes(MemoryLayout<Value>.size)?.reversed().reduce(0) { $0 << 8 | Value(truncatingIfNeeded: $1) }
    }

    /// The outer optional tells whether the bytes suffice, the inner one is the value.
    mutating func data() -> Data?? {
        guard let count = integer(UInt32.self) else { return nil }
        if count == .max { return .some(nil) }
        return bytes(Int(count)).map { .some(Data($0)) }
    }

    mutating func string() -> String?? {
        data().map { $0.map { String(decoding: $0, as: UTF8.self) } }
    }
}
