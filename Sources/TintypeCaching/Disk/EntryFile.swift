internal import CXXHash
internal import FoundationEssentials

/// The format of an entry's file: the image's bytes, then a description, then a footer of fixed size.
///
/// The bytes come first so that any viewer opens the file. The description tells all else, so that no index is needed. Numbers are
/// little-endian.
///
/// The footer: the checksum of the payload (XXH3, 16 bytes), the checksum of the description (8), the payload's length (8), the
/// description's length (4), the version (4), and 8 bytes that mark the end of a complete file.
enum EntryFile {
    static let version: UInt32 = 3
    static let marker: [UInt8] = Array("TINTYPE\n".utf8)
    static let footerSize = 48
    /// More than any description has: keys, types, and validators are short, and extended data is limited.
    static let maximumDescription = 16 << 20
    /// The part of the end of a file that usually has the whole description.
    static let usualTail = 2_048

    /// The checksum of a payload.
    struct Checksum: Equatable, Sendable {
        var high: UInt64
        var low: UInt64
    }

    /// The digest of a key, which distinguishes entries whose hashes collide.
    struct KeyDigest: Equatable, Sendable {
        var high: UInt64
        var low: UInt64
        var variant: UInt64

        init(_ key: ImageKey) {
            var (source, text) = (key.source, key.variant.description)
            let hash = source.withUTF8 { tintype_xxh3_128($0.baseAddress, $0.count, EntryFile.digestSeed) }
            (high, low) = (hash.high64, hash.low64)
            variant =
                text.isEmpty
                ? 0 : text.withUTF8 { tintype_xxh3_128($0.baseAddress, $0.count, EntryFile.digestSeed).low64 }
        }

        fileprivate init?(_ reader: inout ByteReader) {
            guard let high = reader.integer(UInt64.self), let low = reader.integer(UInt64.self),
                let variant = reader.integer(UInt64.self)
            else { return nil }
            (self.high, self.low, self.variant) = (high, low, variant)
        }
    }

    private static let digestSeed: UInt64 = 0x5469_6E74_7970_6533

    /// The fields of a footer.
    struct Footer: Equatable {
        var payloadChecksum: Checksum
        var descriptionChecksum: UInt64
        var payloadSize: Int
        var descriptionSize: Int

        /// The description and the footer.
        var trailerSize: Int { descriptionSize + EntryFile.footerSize }

        /// - Parameters:
        ///   - bytes: the end of a file, or all of it.
        ///   - fileSize: the size of the file.
        init?(_ bytes: UnsafeRawBufferPointer, fileSize: Int) {
            guard bytes.count >= EntryFile.footerSize else { return nil }
            var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes.suffix(EntryFile.footerSize)))
            guard let high = reader.integer(UInt64.self), let low = reader.integer(UInt64.self),
                let descriptionChecksum = reader.integer(UInt64.self),
                let payloadSize = reader.integer(UInt64.self), let descriptionSize = reader.integer(UInt32.self),
                reader.integer(UInt32.self) == EntryFile.version,
                let end = reader.bytes(8), end.elementsEqual(EntryFile.marker),
                descriptionSize <= EntryFile.maximumDescription, payloadSize <= UInt64(fileSize)
            else { return nil }
            payloadChecksum = Checksum(high: high, low: low)
            self.descriptionChecksum = descriptionChecksum
            self.payloadSize = Int(payloadSize)
            self.descriptionSize = Int(descriptionSize)
            guard self.payloadSize + trailerSize == fileSize else { return nil }
        }

        /// Returns true if the payload is the payload that was written.
        func isIntact(_ payload: UnsafeRawBufferPointer) -> Bool {
            EntryFile.checksum(payload) == payloadChecksum
        }
    }

    /// Returns true if the end of a file is from a newer version, whose files are left alone.
    static func isNewer(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 12 else { return false }
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes.suffix(12)))
        guard let version = reader.integer(UInt32.self), let end = reader.bytes(8) else { return false }
        return end.elementsEqual(marker) && version > self.version
    }

    /// The fields of a description.
    struct Description {
        /// The key; without user info and query values of the URL if ``isKeyComplete`` is false.
        var key: ImageKey
        var isKeyComplete = true
        var digest: KeyDigest
        /// The time of storing, in microseconds since 1970.
        var stored: Int64
        /// The entry, without its bytes.
        var entry: DiskCacheEntry
        /// The name of the codec that the bytes went through.
        var codec: String?
        var payloadSize: Int

        /// Returns true if the entry belongs to a key.
        func belongs(to key: ImageKey) -> Bool {
            digest == KeyDigest(key) && self.key.variant == key.variant
                && (!isKeyComplete || self.key.source == key.source)
        }
    }

    // MARK: Writing

    /// Makes the part of a file that follows the payload. An entry that exceeds ``maximumDescription`` must not be stored.
    /// - Parameters:
    ///   - entry: the entry, with its payload.
    ///   - key: the key.
    ///   - keepsCompleteURL: false to leave out user info and the values of the query, which may be credentials.
    ///   - stored: the time of storing, in microseconds since 1970.
    ///   - codec: the name of the codec that the payload went through, if any.
    static func trailer(
        for entry: DiskCacheEntry, key: ImageKey, keepsCompleteURL: Bool = false, stored: Int64, codec: String? = nil
    ) -> Data {
        var writer = ByteWriter()
        let digest = KeyDigest(key)
        writer.integer(digest.high)
        writer.integer(digest.low)
        writer.integer(digest.variant)
        let source = keepsCompleteURL ? key.source : URLDescription.redacted(key.source)
        writer.integer(UInt32(source == key.source ? 1 : 0))
        writer.string(source)
        writer.string(key.variant.description)
        writer.integer(stored)
        writer.integer(entry.created.cacheTime)
        writer.integer(entry.expires?.cacheTime ?? .max)
        writer.string(entry.mimeType)
        writer.string(entry.validators?.entityTag)
        writer.string(entry.validators?.lastModified)
        writer.data(entry.extendedData)
        writer.integer(entry.idleLifetime?.cacheTime ?? .max)
        writer.string(codec)
        // Optional at the end, where readers that don't know it don't look.
        let hasValidators = entry.validators != nil
        if entry.imageProperties != nil || entry.response != nil || hasValidators { writer.data(entry.imageProperties) }
        if entry.response != nil || hasValidators { writer.data(entry.response?.encoded) }
        if let validators = entry.validators { writer.string(validators.owner ?? "") }
        let descriptionSize = writer.bytes.count
        let descriptionChecksum = writer.bytes.withUnsafeBytes { tintype_xxh3($0.baseAddress, $0.count) }
        let checksum = checksum(entry.data)
        writer.integer(checksum.high)
        writer.integer(checksum.low)
        writer.integer(descriptionChecksum)
        writer.integer(UInt64(entry.data.count))
        writer.integer(UInt32(clamping: descriptionSize))
        writer.integer(version)
        writer.bytes.append(contentsOf: marker)
        return Data(writer.bytes)
    }

    /// XXH3 with 128 bits.
    static func checksum(_ data: Data) -> Checksum { data.withUnsafeBytes { checksum($0) } }

    private static func checksum(_ bytes: UnsafeRawBufferPointer) -> Checksum {
        let hash = tintype_xxh3_128(bytes.baseAddress, bytes.count, 0)
        return Checksum(high: hash.high64, low: hash.low64)
    }

    // MARK: Reading

    /// The contents of a whole file, to a caller that looks for a key.
    enum Contents {
        case damaged
        /// The entry of another key, or of a newer version.
        case foreign
        /// The entry, whose payload is intact.
        case entry(Description)
    }

    /// Checks a whole file.
    /// - Parameter key: the key that is looked for; `nil` for any.
    static func contents(_ bytes: UnsafeRawBufferPointer, key: ImageKey?) -> Contents {
        guard let footer = Footer(bytes, fileSize: bytes.count) else { return isNewer(bytes) ? .foreign : .damaged }
        let trailer = UnsafeRawBufferPointer(rebasing: bytes[footer.payloadSize...])
        guard let description = description(trailer, footer, for: key) else { return .damaged }
        if let key, !description.belongs(to: key) { return .foreign }
        guard footer.isIntact(UnsafeRawBufferPointer(rebasing: bytes.prefix(footer.payloadSize))) else {
            return .damaged
        }
        return .entry(description)
    }

    /// Reads the description in the end of a file; `nil` if it is damaged.
    /// - Parameters:
    ///   - bytes: at least the description and the footer.
    ///   - key: a key that the entry may belong to. If the digest says that it does, the key in the file is not read.
    static func description(
        _ bytes: UnsafeRawBufferPointer, _ footer: Footer, for key: ImageKey? = nil
    ) -> Description? {
        guard bytes.count >= footer.trailerSize else { return nil }
        let start = bytes.count - footer.trailerSize
        let description = UnsafeRawBufferPointer(rebasing: bytes[start..<start + footer.descriptionSize])
        guard tintype_xxh3(description.baseAddress, description.count) == footer.descriptionChecksum else { return nil }
        var reader = ByteReader(description)
        guard let digest = KeyDigest(&reader), let flags = reader.integer(UInt32.self) else { return nil }
        let found: ImageKey
        if let key, digest == KeyDigest(key) {
            guard reader.skip(), reader.skip() else { return nil }
            found = key
        } else {
            guard let source = reader.string(), let variant = reader.string(), let source, let variant else {
                return nil
            }
            found = ImageKey(source: source, variant: ImageVariant(description: variant))
        }
        guard let stored = reader.integer(Int64.self), let created = reader.integer(Int64.self),
            let expires = reader.integer(Int64.self), let mimeType = reader.string(),
            let entityTag = reader.string(), let lastModified = reader.string(),
            let extendedData = reader.data(), let lifetime = reader.integer(Int64.self), let codec = reader.string()
        else { return nil }
        let validators = CacheValidators(entityTag: entityTag, lastModified: lastModified)
        var entry = DiskCacheEntry(
            data: Data(), created: Date(cacheTime: created), expires: expires == .max ? nil : Date(cacheTime: expires),
            mimeType: mimeType, validators: validators.isEmpty ? nil : validators, extendedData: extendedData)
        entry.idleLifetime = lifetime == .max ? nil : .microseconds(lifetime)
        entry.imageProperties = reader.data() ?? nil
        entry.response = (reader.data() ?? nil).flatMap { StoredResponse(encoded: $0) }
        if let owner = reader.string() ?? nil, !owner.isEmpty { entry.validators?.owner = owner }
        return Description(
            key: found, isKeyComplete: flags & 1 != 0, digest: digest, stored: stored, entry: entry,
            codec: codec, payloadSize: footer.payloadSize)
    }
}

extension Date {
    /// The time in microseconds since 1970, the unit of the files; clamped to the range.
    var cacheTime: Int64 {
        let microseconds = (timeIntervalSince1970 * 1e6).rounded()
        return Int64(exactly: microseconds) ?? (microseconds > 0 ? .max - 1 : .min + 1)
    }

    init(cacheTime: Int64) { self.init(timeIntervalSince1970: Double(cacheTime) / 1e6) }
}

extension Duration {
    /// The duration in microseconds, from zero to some 30,000 years: added to any date, they stay in range.
    var cacheTime: Int64 { Int64(min(max(0, inSeconds), 1e12) * 1e6) }
}
