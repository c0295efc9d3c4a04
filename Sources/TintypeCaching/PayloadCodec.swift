public import FoundationEssentials

/// A transformation of encoded images on their way to the disk and back, such as encryption or compression.
///
/// The image, its metadata (``DiskCacheEntry/imageProperties``), and a program's own bytes (``DiskCacheEntry/extendedData``) go through the
/// codec, each in a separate call. The key, the type, the dates, the validators, and the response don't, because the cache needs them.
///
/// ```swift
/// let encryption = PayloadCodec(
///     identifier: "key-2026", encode: { try encrypt($0) }, decode: { try decrypt($0) })
/// let disk = DiskCache(.init(directory: path, payloadCodec: encryption))
/// ```
public struct PayloadCodec: Sendable {
    /// The name of the codec, stored with each entry.
    ///
    /// Entries with another identifier, or without one, aren't found, and remain until they are replaced or evicted. A new encryption key
    /// needs a new identifier.
    public let identifier: String
    /// Makes the bytes that go to the disk.
    ///
    /// Runs on a thread of ``WorkQueue/processing``. An error, or an image without bytes, ends the store with
    /// ``ImageError/Code/cacheWriteFailed``.
    public let encode: @Sendable (Data) throws -> Data
    /// Restores the original bytes.
    ///
    /// Runs on a thread that reads files. If it throws an error, the entry counts as damaged: it is discarded and loaded again.
    public let decode: @Sendable (Data) throws -> Data

    /// Creates a codec.
    /// - Parameters:
    ///   - identifier: the name of the codec, stored with each entry.
    ///   - encode: makes the bytes that go to the disk.
    ///   - decode: restores the original bytes.
    public init(
        identifier: String, encode: @escaping @Sendable (Data) throws -> Data,
        decode: @escaping @Sendable (Data) throws -> Data
    ) {
        self.identifier = identifier
        self.encode = encode
        self.decode = decode
    }
}

/// The error of a codec that makes no bytes of an image.
private struct NoBytes: Error, CustomStringConvertible {
    var description: String { "it returned no bytes" }
}

extension DiskStore {
    /// The entry as it goes to the disk.
    func encoded(_ entry: DiskCacheEntry) throws(ImageError) -> DiskCacheEntry {
        guard let payloadCodec else { return entry }
        do {
            let encoded = try entry.converted(by: payloadCodec.encode)
            guard !encoded.data.isEmpty || entry.data.isEmpty else { throw NoBytes() }
            return encoded
        } catch {
            throw failure(
                .cacheWriteFailed, "the payload codec \(payloadCodec.identifier) failed: \(error)",
                cause: "encode \(payloadCodec.identifier)", underlying: error)
        }
    }

    /// The entry as it was before it went to the disk; `nil` if the codec refuses it.
    func decoded(_ entry: DiskCacheEntry) -> DiskCacheEntry? {
        guard let payloadCodec else { return entry }
        do {
            return try entry.converted(by: payloadCodec.decode)
        } catch {
            let identifier = payloadCodec.identifier
            note("the payload codec \(identifier) refused an entry of \(path): \(error)", cause: "decode \(identifier)")
            return nil
        }
    }
}

extension DiskCacheEntry {
    fileprivate func converted(by convert: (Data) throws -> Data) throws -> DiskCacheEntry {
        var entry = self
        entry.data = try convert(data)
        entry.extendedData = try extendedData.map(convert)
        entry.imageProperties = try imageProperties.map(convert)
        return entry
    }
}
