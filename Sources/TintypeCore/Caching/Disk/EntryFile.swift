internal import CXXHash
internal import FoundationEssentials

/// The file of one entry: the image's bytes, then what is known of them, then a footer of fixed size.
///
/// The bytes come first so that any viewer opens the file; what follows lets a lost index be made again. Numbers are
/// little-endian. The footer: the checksum of the payload, the checksum of the description, the payload's length (8
/// bytes each), the description's length (4), the version (4), and 8 bytes that mark the end of a complete file. Version 1
/// has neither the lifetime nor the transform at the end of its description.
enum EntryFile {
    static let version: UInt32 = 2
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
        var version: UInt32

        var fileSize: Int { payloadSize + descriptionSize + EntryFile.footerSize }

        /// - Parameter fileSize: the size of the file that the bytes end.
        init?(_ bytes: Data, fileSize: Int) {
            guard let footer = bytes.withUnsafeBytes({ Self($0, fileSize: fileSize) }) else { return nil }
            self = footer
        }

        init?(_ bytes: UnsafeRawBufferPointer, fileSize: Int) {
            var reader = ByteReader(bytes)
            guard
                let payloadChecksum = reader.integer(UInt64.self),
                let descriptionChecksum = reader.integer(UInt64.self),
                let payloadSize = reader.integer(UInt64.self), let descriptionSize = reader.integer(UInt32.self),
                let version = reader.integer(UInt32.self), (1...EntryFile.version).contains(version),
                let end = reader.bytes(8), end.elementsEqual(EntryFile.marker),
                descriptionSize <= EntryFile.maximumDescription, payloadSize <= UInt64(fileSize)
            else { return nil }
            self.payloadChecksum = payloadChecksum
            self.descriptionChecksum = descriptionChecksum
            self.payloadSize = Int(payloadSize)
            self.descriptionSize = Int(descriptionSize)
            self.version = version
            guard self.fileSize == fileSize else { return nil }
        }
    }

    /// What follows the payload.
    /// - Parameter transform: what the payload went through, if anything.
    static func trailer(
        for entry: DiskCacheEntry, key: ImageKey, checksum: UInt64, transform: String? = nil
    ) -> Data {
        var writer = ByteWriter()
        writer.string(key.source)
        writer.string(key.variant.description)
        writer.integer(entry.created.cacheTime)
        writer.integer(entry.expires?.cacheTime ?? .max)
        writer.string(entry.mimeType)
        writer.string(entry.validators?.entityTag)
        writer.string(entry.validators?.lastModified)
        writer.data(entry.extendedData)
        writer.integer(entry.idleLifetime?.cacheTime ?? .max)
        writer.string(transform)
        // Optional at the end, where readers that don't know it don't look.
        if let properties = entry.imageProperties { writer.data(properties) }
        let descriptionSize = writer.bytes.count
        let descriptionChecksum = writer.bytes.withUnsafeBytes { Self.checksum($0) }
        writer.integer(checksum)
        writer.integer(descriptionChecksum)
        writer.integer(UInt64(entry.data.count))
        writer.integer(UInt32(descriptionSize))
        writer.integer(version)
        writer.bytes.append(contentsOf: marker)
        return Data(writer.bytes)
    }

    /// What a trailer says.
    struct Description {
        var key: ImageKey
        /// Without its bytes.
        var entry: DiskCacheEntry
        /// What the bytes went through.
        var transform: String?
    }

    /// What a trailer says of its entry; `nil` if it is damaged.
    static func read(description bytes: Data, footer: Footer) -> Description? {
        bytes.withUnsafeBytes { bytes in
            guard bytes.count == footer.descriptionSize, checksum(bytes) == footer.descriptionChecksum else {
                return nil
            }
            var reader = ByteReader(bytes)
            guard let source = reader.string(), let variant = reader.string(), let source, let variant,
                let (entry, transform) = entry(&reader, footer.version)
            else { return nil }
            let key = ImageKey(source: source, variant: ImageVariant(description: variant))
            return Description(key: key, entry: entry, transform: transform)
        }
    }

    /// What a whole file is to somebody who looks for a key.
    enum Contents {
        case damaged
        /// The entry of another key.
        case foreign
        /// The entry, without its bytes; those are whole.
        case entry(DiskCacheEntry, payloadSize: Int, transform: String?)
    }

    /// Checks a whole file.
    static func contents(_ bytes: UnsafeRawBufferPointer, key: ImageKey) -> Contents {
        guard bytes.count >= footerSize,
            let footer = Footer(UnsafeRawBufferPointer(rebasing: bytes.suffix(footerSize)), fileSize: bytes.count)
        else { return .damaged }
        let description = UnsafeRawBufferPointer(rebasing: bytes[footer.payloadSize...].prefix(footer.descriptionSize))
        guard checksum(description) == footer.descriptionChecksum else { return .damaged }
        var reader = ByteReader(description)
        guard let source = reader.text(), let variant = reader.text() else { return .damaged }
        guard source.isEqual(to: key.source), variant.isEqual(to: key.variant.description) else { return .foreign }
        let payload = UnsafeRawBufferPointer(rebasing: bytes.prefix(footer.payloadSize))
        guard let (entry, transform) = entry(&reader, footer.version), checksum(payload) == footer.payloadChecksum
        else { return .damaged }
        return .entry(entry, payloadSize: footer.payloadSize, transform: transform)
    }

    /// What follows the key in a description.
    private static func entry(
        _ reader: inout ByteReader, _ version: UInt32
    ) -> (entry: DiskCacheEntry, transform: String?)? {
        guard let created = reader.integer(Int64.self), let expires = reader.integer(Int64.self),
            let mimeType = reader.string(), let entityTag = reader.string(), let lastModified = reader.string(),
            let extendedData = reader.data()
        else { return nil }
        let validators = CacheValidators(entityTag: entityTag, lastModified: lastModified)
        var entry = DiskCacheEntry(
            data: Data(), created: Date(cacheTime: created), expires: expires == .max ? nil : Date(cacheTime: expires),
            mimeType: mimeType, validators: validators.isEmpty ? nil : validators, extendedData: extendedData)
        guard version > 1 else { return (entry, nil) }
        guard let lifetime = reader.integer(Int64.self), let transform = reader.string() else { return nil }
        entry.idleLifetime = lifetime == .max ? nil : .microseconds(lifetime)
        entry.imageProperties = reader.data() ?? nil
        return (entry, transform)
    }

    /// XXH3 with 64 bits.
    static func checksum(_ data: Data) -> UInt64 { data.withUnsafeBytes { checksum($0) } }

    private static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        tintype_xxh3(bytes.baseAddress, bytes.count)
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

extension Duration {
    /// Microseconds, from zero to some 30,000 years: added to any date, they stay in range.
    var cacheTime: Int64 { Int64(min(max(0, inSeconds), 1e12) * 1e6) }
}

/// Puts numbers and strings one behind the other. A string or data that is `nil` has the length of all ones.
private struct ByteWriter {
    var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(512) }

    mutating func integer<Value: FixedWidthInteger>(_ value: Value) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func data(_ value: Data?) {
        integer(value.map { UInt32($0.count) } ?? .max)
        if let value { bytes.append(contentsOf: value) }
    }

    mutating func string(_ value: String?) {
        integer(value.map { UInt32($0.utf8.count) } ?? .max)
        if let value { bytes.append(contentsOf: value.utf8) }
    }
}

/// Takes apart what ``ByteWriter`` put together; `nil` where the bytes end too early.
private struct ByteReader {
    private var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    mutating func bytes(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count <= rest.count else { return nil }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count)) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    }

    mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type) -> Value? {
        bytes(MemoryLayout<Value>.size).map { Value(littleEndian: $0.loadUnaligned(as: Value.self)) }
    }

    /// The outer optional tells whether the bytes suffice, the inner one is the value.
    private mutating func value() -> UnsafeRawBufferPointer?? {
        guard let count = integer(UInt32.self) else { return nil }
        if count == .max { return .some(nil) }
        return bytes(Int(count)).map { .some($0) }
    }

    /// A text that is there.
    mutating func text() -> UnsafeRawBufferPointer? { value() ?? nil }

    mutating func data() -> Data?? { value().map { $0.map { Data($0) } } }

    mutating func string() -> String?? { value().map { $0.map { String(decoding: $0, as: UTF8.self) } } }
}

extension UnsafeRawBufferPointer {
    fileprivate func isEqual(to text: String) -> Bool {
        var text = text
        return text.withUTF8 { $0.count == count && $0.elementsEqual(self) }
    }
}
