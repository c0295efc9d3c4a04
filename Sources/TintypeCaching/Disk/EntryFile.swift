internal import FoundationEssentials

/// The format of an entry's file: the image's bytes, then a description, then a footer of fixed size.
///
/// The bytes come first so that any viewer opens the file. The description tells all else, so that no index is needed. Numbers are little-endian.
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
    struct KeyDigest: Equatable, Sendable {
        private static let seed: UInt64 = 0x5469_6E74_7970_6533

        let source: UInt128
        let variant: UInt64

        init(_ key: ImageKey) {
            source = XXH3.hash128(key.source, seed: Self.seed)
            let text = key.variant.description
            variant = text.isEmpty ? 0 : UInt64(truncatingIfNeeded: XXH3.hash128(text, seed: Self.seed))
        }

        fileprivate init?(_ reader: inout ByteReader) {
            guard let source = reader.hash(), let variant = reader.integer(UInt64.self) else { return nil }
            (self.source, self.variant) = (source, variant)
        }
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
            guard bytes.count >= EntryFile.footerSize else { return nil }
            var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes.suffix(EntryFile.footerSize)))
            guard let payloadChecksum = reader.hash(), let descriptionChecksum = reader.integer(UInt64.self),
                let payloadSize = reader.integer(UInt64.self), let descriptionSize = reader.integer(UInt32.self),
                reader.integer(UInt32.self) == EntryFile.version,
                let end = reader.bytes(8), end.elementsEqual(EntryFile.marker),
                descriptionSize <= EntryFile.maximumDescription, payloadSize <= UInt64(fileSize),
                Int(payloadSize) + Int(descriptionSize) + EntryFile.footerSize == fileSize
            else { return nil }
            (self.payloadChecksum, self.descriptionChecksum) = (payloadChecksum, descriptionChecksum)
            (self.payloadSize, self.descriptionSize) = (Int(payloadSize), Int(descriptionSize))
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
            digest == KeyDigest(key) && self.key.variant == key.variant
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
        let digest = KeyDigest(key)
        writer.hash(digest.source)
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
        writer.data(entry.imageProperties)
        writer.data(entry.response?.encoded)
        writer.string(entry.validators?.owner)
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
        guard let description = description(bytes, footer, for: key) else { return .damaged }
        if let key, !description.belongs(to: key) { return .foreign }
        let payload = UnsafeRawBufferPointer(rebasing: bytes.prefix(footer.payloadSize))
        return XXH3.hash128(payload) == footer.payloadChecksum ? .entry(description) : .damaged
    }

    /// Returns true if a newer version wrote the end of a file. Such a file is left alone.
    private static func isNewer(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 12 else { return false }
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes.suffix(12)))
        guard let version = reader.integer(UInt32.self), let end = reader.bytes(8) else { return false }
        return end.elementsEqual(marker) && version > self.version
    }

    /// Reads the description in the end of a file; `nil` if it is damaged.
    /// - Parameters:
    ///   - bytes: at least the description and the footer.
    ///   - key: a key that the entry may belong to. If the digest says that it does, the key in the file is not read.
    static func description(
        _ bytes: UnsafeRawBufferPointer, _ footer: Footer, for key: ImageKey? = nil
    ) -> Description? {
        guard bytes.count >= footer.trailerSize else { return nil }
        let trailer = bytes.suffix(footer.trailerSize)
        let description = UnsafeRawBufferPointer(rebasing: trailer.prefix(footer.descriptionSize))
        guard XXH3.hash(description) == footer.descriptionChecksum else { return nil }
        var reader = ByteReader(description)
        guard let digest = KeyDigest(&reader), let flags = reader.integer(UInt32.self) else { return nil }
        let found: ImageKey
        if let key, digest == KeyDigest(key) {
            guard reader.skip(), reader.skip() else { return nil }
            found = key
        } else {
            guard let source = reader.string() ?? nil, let variant = reader.string() ?? nil else { return nil }
            found = ImageKey(source: source, variant: ImageVariant(description: variant))
        }
        guard let stored = reader.integer(Int64.self), let created = reader.integer(Int64.self),
            let expires = reader.integer(Int64.self), let mimeType = reader.string(),
            let entityTag = reader.string(), let lastModified = reader.string(),
            let extendedData = reader.data(), let lifetime = reader.integer(Int64.self), let codec = reader.string()
        else { return nil }
        // The rest was added later, and may be missing.
        let (imageProperties, response) = (reader.data() ?? nil, reader.data() ?? nil)
        var validators = CacheValidators(entityTag: entityTag, lastModified: lastModified)
        if let owner = reader.string() ?? nil, !owner.isEmpty { validators.owner = owner }
        var entry = DiskCacheEntry(
            data: Data(), created: Date(cacheTime: created), expires: expires == .max ? nil : Date(cacheTime: expires),
            mimeType: mimeType, validators: validators.isEmpty ? nil : validators, extendedData: extendedData,
            idleLifetime: lifetime == .max ? nil : .microseconds(lifetime), imageProperties: imageProperties)
        entry.response = response.flatMap { StoredResponse(encoded: $0) }
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
