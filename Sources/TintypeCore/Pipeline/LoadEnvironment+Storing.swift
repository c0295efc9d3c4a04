extension LoadEnvironment {
    /// Writes the bytes of a source to disk, once for all loads that share them.
    ///
    /// - Parameters:
    ///   - mark: The state of the cache's removals when the load began. If the original was removed since, it is not stored.
    ///   - waits: Whether the caller waits for the write. It waits in any case while too many bytes are waiting to be written.
    /// - Returns: the error of the write, if the caller waits for it.
    func storeOriginal(
        _ bytes: SourceBytes, source: String, download: DownloadKey, since mark: RemovalLog.Mark?, waits: Bool
    ) async -> ImageError? {
        let key = ImageKey(source: source)
        let removals = cache.removals
        func wasRemoved(since mark: RemovalLog.Mark?) -> Bool {
            removals?.hasRemoval(of: key, from: .disk, since: mark) ?? false
        }
        let now = removals?.mark
        guard !wasRemoved(since: mark) else { return nil }
        var write = bytes.write(for: source) ?? bytes.makeWrite(for: source, at: now, replacing: nil)
        // Another load wrote these bytes, and they were removed before this load began.
        if wasRemoved(since: write.mark) { write = bytes.makeWrite(for: source, at: now, replacing: write) }
        let isOverLimit = begin(write.task, of: download, bytes: bytes.data.count) {
            [cache, write] () throws(ImageError) in
            if let previous = write.previous {
                _ = await previous.task.value
                guard removals?.hasRemoval(of: key, from: .disk, since: write.mark) != true else { return }
            }
            try await cache.store(bytes.entry, forKey: key)
        }
        // The removal may have come in between: it wins.
        if wasRemoved(since: mark) { await cache.discard(key) }
        guard waits || isOverLimit else { return nil }
        return await write.task.value ?? nil
    }

    /// Begins a write, unless it has begun. The bytes of the download stay shared until it has ended.
    /// - Returns: whether too many bytes are waiting to be written.
    func begin(
        _ write: OnceTask<ImageError?>, of download: DownloadKey, bytes: Int,
        _ body: @escaping @Sendable () async throws(ImageError) -> Void
    ) -> Bool {
        var isOverLimit = false
        write.begin {
            let (downloads, stores) = (shared.downloads, shared.stores)
            let hold = downloads.hold(download)
            let number: Int
            (number, isOverLimit) = stores.begin(bytes: bytes, limit: configuration.pendingStoreLimit)
            // Immediate: the cache knows of the write before the load returns, so that a removal after the load comes after it.
            return Task.immediateDetached {
                defer {
                    stores.end(number, bytes: bytes)
                    downloads.release(hold)
                }
                do throws(ImageError) {
                    try await body()
                    return nil
                } catch {
                    return error
                }
            }
        }
        return isOverLimit
    }
}
