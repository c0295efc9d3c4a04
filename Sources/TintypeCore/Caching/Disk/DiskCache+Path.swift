extension DiskCache {
    /// The path of the file of an image, for programs that take only files; `nil` if there is no valid entry under the key.
    ///
    /// The file begins with the image as it was stored, so that other programs open it, unless a
    /// ``Configuration/payloadCodec`` changed it; what the cache needs to know follows behind. It is the cache's: it may only be
    /// read, and is gone when the entry is. Waits until what was stored before is on disk. Does not count as use.
    public func path(forKey key: ImageKey) async -> String? {
        // On the queue for writing, behind the stores.
        let path = try? await write { store throws(ImageError) in store.file(ofKey: key).map(store.layout.file) }
        return path ?? nil
    }
}
