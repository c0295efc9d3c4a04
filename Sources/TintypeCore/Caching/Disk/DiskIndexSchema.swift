internal import CXXHash
internal import FoundationEssentials

/// The tables of the index.
///
/// `entries.key` is a hash of source and variant, whose upper 40 bits are those of the source alone: one index of
/// 8-byte numbers finds an entry as well as all variants of a source, where an index of the texts would be as large as
/// the table. Hashes may collide, so whoever looks up compares the texts too; that a key is there once is kept by the
/// transactions. Times are microseconds since 1970. `id` names the file, and grows with the time of storing.
enum DiskIndexSchema {
    /// "Tint", so that a database of somebody else's is not taken for ours.
    static let applicationID: Int64 = 0x5469_6E74
    /// 2 has the lifetimes and transforms of entries, and lacks a column of costs that nothing used.
    static let version: Int64 = 2

    static let tables = """
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY,
            key INTEGER NOT NULL,
            source TEXT NOT NULL,
            variant TEXT NOT NULL,
            payload_size INTEGER NOT NULL,
            file_size INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            created INTEGER NOT NULL,
            accessed INTEGER NOT NULL,
            expires INTEGER,
            mime_type TEXT,
            entity_tag TEXT,
            last_modified TEXT,
            extended_data BLOB,
            lifetime INTEGER,
            transform TEXT
        );
        CREATE INDEX entries_key ON entries (key);
        CREATE INDEX entries_accessed ON entries (accessed);
        CREATE INDEX entries_expires ON entries (expires) WHERE expires IS NOT NULL;
        \(idleIndex);
        CREATE TABLE state (
            entries INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            rebuild_shard INTEGER NOT NULL,
            orphan_shard INTEGER NOT NULL
        );
        """

    /// The entries whose end moves with each read.
    static let idleIndex =
        "CREATE INDEX entries_idle ON entries (accessed + lifetime) WHERE lifetime IS NOT NULL"

    /// Wanted only where age counts from creation: each index makes a store write one more page.
    static let createdIndex = "CREATE INDEX IF NOT EXISTS entries_created ON entries (created)"

    /// The columns that make an ``IndexRow``, in its order.
    static let columns = """
        id, source, variant, payload_size, file_size, checksum, created, accessed, expires, mime_type, entity_tag, \
        last_modified, extended_data, lifetime, transform
        """

    static let shards: Int64 = 256

    /// The hash that an entry is found by.
    static func hash(_ key: ImageKey) -> Int64 {
        Int64(
            bitPattern: UInt64(bitPattern: hashes(ofSource: key.source).lowerBound)
                | (text(key.variant.description) >> 40))
    }

    /// The hashes of all variants of a source.
    static func hashes(ofSource source: String) -> ClosedRange<Int64> {
        let lowest = Int64(bitPattern: text(source) & ~0xFF_FFFF)
        return lowest...(lowest | 0xFF_FFFF)
    }

    private static func text(_ value: String) -> UInt64 {
        var value = value
        return value.withUTF8 { tintype_xxh3($0.baseAddress, $0.count) }
    }
}

/// One entry of the index.
struct IndexRow: Sendable {
    var id: Int64
    var key: ImageKey
    var payloadSize: Int
    var fileSize: Int
    var checksum: UInt64
    var created: Int64
    var accessed: Int64
    var expires: Int64?
    var mimeType: String?
    var validators: CacheValidators?
    var extendedData: Data?
    /// How long after the last access the entry ends.
    var lifetime: Int64?
    /// What the bytes of the file went through.
    var transform: String?

    init(
        id: Int64, key: ImageKey, entry: DiskCacheEntry, payloadSize: Int, fileSize: Int, checksum: UInt64,
        accessed: Int64, transform: String?
    ) {
        self.id = id
        self.key = key
        self.payloadSize = payloadSize
        self.fileSize = fileSize
        self.checksum = checksum
        self.accessed = accessed
        created = entry.created.cacheTime
        expires = entry.expires?.cacheTime
        mimeType = entry.mimeType
        validators = entry.validators
        extendedData = entry.extendedData
        lifetime = entry.idleLifetime?.cacheTime
        self.transform = transform
    }

    /// - Parameter statement: a row of ``DiskIndexSchema/columns``.
    /// - Parameter key: the key, if it is known already, so that its texts are not made again.
    init(_ statement: Statement, key: ImageKey? = nil) {
        id = statement.integer(0)
        self.key =
            key
            ?? ImageKey(
                source: statement.text(1) ?? "", variant: ImageVariant(description: statement.text(2) ?? ""))
        payloadSize = Int(statement.integer(3))
        fileSize = Int(statement.integer(4))
        checksum = UInt64(bitPattern: statement.integer(5))
        created = statement.integer(6)
        accessed = statement.integer(7)
        expires = statement.isNull(8) ? nil : statement.integer(8)
        mimeType = statement.text(9)
        let validators = CacheValidators(entityTag: statement.text(10), lastModified: statement.text(11))
        self.validators = validators.isEmpty ? nil : validators
        extendedData = statement.data(12)
        lifetime = statement.isNull(13) ? nil : statement.integer(13)
        transform = statement.text(14)
    }

    func entry(data: Data) -> DiskCacheEntry {
        DiskCacheEntry(
            data: data, created: Date(cacheTime: created), expires: expires.map { Date(cacheTime: $0) },
            mimeType: mimeType, validators: validators, extendedData: extendedData,
            idleLifetime: lifetime.map { .microseconds($0) })
    }
}

/// A file that is to be removed, once the index no longer has it.
struct StoredFile: Hashable, Sendable {
    var id: Int64
    var size: Int
    /// The hash of its key.
    var hash: Int64
}
