public import FoundationEssentials

/// What the bytes of images go through on their way to the disk and back: encryption, compression.
///
/// The image and a program's own bytes with it (``DiskCacheEntry/extendedData``) are transformed, each by a call of its
/// own. The key, the type, the dates and the validators are not: the index needs them.
///
/// ```swift
/// let sealed = DiskCacheTransform(identifier: "aes-2026-11") { try seal($0) } decode: { try open($0) }
/// let cache = DiskCache(.init(directory: path, transform: sealed))
/// ```
public struct DiskCacheTransform: Sendable {
    /// What the way is known by, stored with each entry: entries of another identifier, or of none, are not found, and
    /// stay until they are replaced or evicted. A new encryption key needs a new identifier.
    public let identifier: String
    /// Makes the bytes that go to the disk. Runs on a thread of ``WorkQueue/processing``. An error ends the store with
    /// ``ImageError/Code/cacheWriteFailed``.
    public let encode: @Sendable (Data) throws -> Data
    /// Makes the bytes of before. Runs on a thread that reads files. An entry for which it throws is taken for damaged:
    /// it is dropped, and loaded again.
    public let decode: @Sendable (Data) throws -> Data

    public init(
        identifier: String, encode: @escaping @Sendable (Data) throws -> Data,
        decode: @escaping @Sendable (Data) throws -> Data
    ) {
        self.identifier = identifier
        self.encode = encode
        self.decode = decode
    }
}

extension DiskCacheTransform: Hashable {
    /// Transforms are known by their identifiers.
    public static func == (left: DiskCacheTransform, right: DiskCacheTransform) -> Bool {
        left.identifier == right.identifier
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}

extension DiskStore {
    /// The entry as it goes to the disk; `nil` if it goes as it is.
    func sealed(_ entry: DiskCacheEntry) throws(ImageError) -> DiskCacheEntry? {
        guard let transform else { return nil }
        do {
            var sealed = entry
            sealed.data = try transform.encode(entry.data)
            sealed.extendedData = try entry.extendedData.map(transform.encode)
            return sealed
        } catch {
            let reason = "the transform \(transform.identifier) failed: \(error)"
            note(reason, cause: "encode \(transform.identifier)")
            throw ImageError(
                .cacheWriteFailed, stage: .cache, source: layout.directory, reason: reason, underlying: error)
        }
    }

    /// The entry as it was before it went to the disk; `nil` if the transform refuses it.
    func opened(_ entry: DiskCacheEntry) -> DiskCacheEntry? {
        guard let transform else { return entry }
        do {
            var opened = entry
            opened.data = try transform.decode(entry.data)
            opened.extendedData = try entry.extendedData.map(transform.decode)
            return opened
        } catch {
            note(
                "the transform \(transform.identifier) refused an entry of \(layout.directory): \(error)",
                cause: "decode \(transform.identifier)")
            return nil
        }
    }
}
