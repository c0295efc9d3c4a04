internal import FoundationEssentials

/// The format of an entry's file: the image's bytes, then a description, then a footer of fixed size.
///
/// The bytes come first so that viewers open the file, unless it is an SVG. The description tells all else, so that no index is
/// needed. Numbers are little-endian.
///
/// The footer: the checksum of the payload (XXH3, 16 bytes), the checksum of the description (8), the payload's length (8), the
/// description's length (4), the version (4), and 8 bytes that mark the end of a complete file.
enum EntryFile {
    static let version: UInt32 = 3
    static let marker: [UInt8] = Array("TINTYPE\n".utf8)
    static let footerSize = 48
    /// More than any description has, since extended data is limited.
    static let maximumDescription = 16 << 20
    /// The part of the end of a file that usually has the whole description.
    static let usualTail = 2_048

    /// The digest of a key, by which entries of other keys are told apart: those whose hashes collide.
    typealias KeyDigest = (source: UInt128, variant: UInt64)

    private static func digest(of key: ImageKey) -> KeyDigest {
        let (seed, variant) = (0x5469_6E74_7970_6533 as UInt64, key.variant.description)
        let hash = variant.isEmpty ? 0 : XXH3.hash128(variant, seed: seed)
        return (XXH3.hash128(key.source, seed: seed), UInt64(truncatingIfNeeded: hash))
    }

    struct Footer {
        let payloadChecksum: UInt128
        let descriptionChecksum: UInt64
        let payloadSize: Int
        let descriptionSize: Int

        var trailerSize: Int { descriptionSize + EntryFile.footerSize }

        /// - Parameters:
        ///   - bytes: the end of a file, or all of it.
        ///   - fileSize: the size of the file.
        init?(_ bytes: UnsafeRawBufferPointer, fileSize: Int) {
            var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes.suffix(EntryFile.footerSize)))
            (payloadChecksum, descriptionChecksum) = (reader.hash(), reader.integer())
            payloadSize = Int(clamping: reader.integer(UInt64.self))
            descriptionSize = Int(reader.integer(UInt32.self))
            guard reader.integer(UInt32.self) == EntryFile.version,
                reader.bytes(8)?.elementsEqual(EntryFile.marker) == true,
                descriptionSize <= EntryFile.maximumDescription, payloadSize <= fileSize,
                payloadSize + descriptionSize + EntryFile.footerSize == fileSize
            else { return nil }
        }
    }

    struct Description {
        /// The key; without user info and query values of the URL if ``isKeyComplete`` is false.
        var key: ImageKey
        var isKeyComplete: Bool
        var digest: KeyDigest
        /// The time of storing, in microseconds since 1970.
        var stored: Int64
        /// The entry, without its bytes.
        var entry: DiskCacheEntry
        /// The name of the codec that the bytes went through.
        var codec: String?
        var payloadSize: Int

        /// The entry with its bytes, from the whole file.
        func entry(with file: Data) -> DiskCacheEntry {
            var entry = entry
            entry.data = file.prefix(payloadSize)
            return entry
        }

        /// Returns true if the entry belongs to a key.
        func belongs(to key: ImageKey) -> Bool {
            digest == EntryFile.digest(of: key) && self.key.variant == key.variant
                && (!isKeyComplete || self.key.source == key.source)
        }
    }

    // MARK: Writing

    /// Makes the part of a file that follows the payload. One that exceeds ``maximumDescription`` must not be stored.
    /// - Parameters:
    ///   - entry: the entry, with its payload.
    ///   - keepsCompleteURL: false to leave out user info and the values of the query, which may be credentials.
    ///   - stored: the time of storing, in microseconds since 1970.
    ///   - codec: the name of the codec that the payload went through, if any.
    static func trailer(
        for entry: DiskCacheEntry, key: ImageKey, keepsCompleteURL: Bool = false, stored: Int64, codec: String? = nil
    ) -> Data {
        var writer = ByteWriter()
        let digest = self.digest(of: key)
        writer.hash(digest.source)
        writer.integer(digest.variant)
        let source = keepsCompleteURL ? key.source : URLDescription.redacted(key.source)
        writer.integer(UInt32(source == key.source ? 1 : 0))
        writer.value(source.utf8)
        writer.value(key.variant.description.utf8)
        writer.integer(stored)
        writer.integer(entry.created.cacheTime)
        writer.integer(entry.expires?.cacheTime ?? .max)
        writer.value(entry.mimeType?.utf8)
        writer.value(entry.validators?.entityTag?.utf8)
        writer.value(entry.validators?.lastModified?.utf8)
        writer.value(entry.extendedData)
        writer.integer(entry.idleLifetime?.cacheTime ?? .max)
        writer.value(codec?.utf8)
        writer.value(entry.imageProperties)
        writer.value(entry.response)
        writer.value(entry.validators?.owner?.utf8)
        let descriptionSize = writer.bytes.count
        let descriptionChecksum = writer.bytes.withUnsafeBytes { XXH3.hash($0) }
        writer.hash(entry.data.withUnsafeBytes { XXH3.hash128($0) })
        writer.integer(descriptionChecksum)
        writer.integer(UInt64(entry.data.count))
        writer.integer(UInt32(clamping: descriptionSize))
        writer.integer(version)
        writer.bytes.append(contentsOf: marker)
        return Data(writer.bytes)
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
        guard let description = description(bytes, footer) else { return .damaged }
        if let key, !description.belongs(to: key) { return .foreign }
        let payload = UnsafeRawBufferPointer(rebasing: bytes.prefix(footer.payloadSize))
        return XXH3.hash128(payload) == footer.payloadChecksum ? .entry(description) : .damaged
    }

    /// Returns true if a newer version wrote the end of a file. Such a file is left alone.
    private static func isNewer(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes.suffix(12)))
        return reader.integer(UInt32.self) > version && reader.bytes(8)?.elementsEqual(marker) == true
    }

    /// Reads the description in the end of a file; `nil` if it is damaged.
    /// - Parameter bytes: at least the description and the footer.
    static func description(_ bytes: UnsafeRawBufferPointer, _ footer: Footer) -> Description? {
        guard bytes.count >= footer.trailerSize else { return nil }
        let trailer = bytes.suffix(footer.trailerSize)
        let description = UnsafeRawBufferPointer(rebasing: trailer.prefix(footer.descriptionSize))
        guard XXH3.hash(description) == footer.descriptionChecksum else { return nil }
        var reader = ByteReader(description)
        let digest = KeyDigest(reader.hash(), reader.integer())
        let flags = reader.integer(UInt32.self)
        guard let source = reader.string(), let variant = reader.string() else { return nil }
        let stored = reader.integer(Int64.self)
        var entry = DiskCacheEntry(data: Data(), created: Date(cacheTime: reader.integer()))
        let expires = reader.integer(Int64.self)
        entry.expires = expires == .max ? nil : Date(cacheTime: expires)
        entry.mimeType = reader.string()
        var validators = CacheValidators(entityTag: reader.string(), lastModified: reader.string())
        entry.extendedData = reader.data()
        let lifetime = reader.integer(Int64.self)
        entry.idleLifetime = lifetime == .max ? nil : .microseconds(lifetime)
        let codec = reader.string()
        guard reader.isComplete else { return nil }
        // The rest was added later, and may be missing.
        entry.imageProperties = reader.data()
        entry.answer = reader.value().map { StoredResponse(encoded: $0) }
        if let owner = reader.string(), !owner.isEmpty { validators.owner = owner }
        entry.validators = validators.isEmpty ? nil : validators
        return Description(
            key: ImageKey(source: source, variant: ImageVariant(description: variant)),
            isKeyComplete: flags & 1 != 0, digest: digest, stored: stored, entry: entry, codec: codec,
            payloadSize: footer.payloadSize)
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
