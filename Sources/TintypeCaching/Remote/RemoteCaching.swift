public import FoundationEssentials

/// A store of bytes that several machines share, such as Redis or an object store. ``RemoteImageCache`` turns it into an image cache.
///
/// ```swift
/// let own = DiskCache(.init(directory: path))
/// let disk = TieredDiskCache([RemoteImageCache(store), own], store: .concurrent, promotesHits: true)
/// let manager = ImageManager(cache: ImageCache(disk: disk))
/// ```
///
/// The store may be slow, fail, return wrong bytes, or be unavailable. Its methods are called from several tasks at once, which are
/// canceled at the deadline. They must suspend instead of blocking their thread, since Swift has few threads.
///
/// A name is 49 characters long: hexadecimal digits and a hyphen. It is a hash that is the same on every machine. The names of all variants
/// of a source share their first 33 characters.
public protocol RemoteCaching: Sendable {
    /// Returns the bytes under a name; `nil` if there are none.
    /// - Parameter name: the name of the entry.
    /// - Throws: the errors of the store.
    func get(_ name: String) async throws -> Data?
    /// Stores bytes, and replaces any previous bytes under the name.
    /// - Parameters:
    ///   - data: the bytes.
    ///   - name: the name of the entry.
    /// - Throws: the errors of the store.
    func put(_ data: Data, as name: String) async throws
    /// Removes the bytes under a name, if there are any.
    /// - Parameter name: the name of the entry.
    /// - Throws: the errors of the store.
    func remove(_ name: String) async throws
    /// Removes everything whose name starts with a prefix.
    /// - Parameter prefix: the start of the names.
    /// - Throws: the errors of the store.
    func removeAll(withPrefix prefix: String) async throws
}
