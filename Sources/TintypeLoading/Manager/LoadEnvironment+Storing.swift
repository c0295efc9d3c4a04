internal import FoundationEssentials

extension LoadEnvironment {
    /// Writes the bytes of a source to disk, once for all loads that share them.
    ///
    /// - Parameters:
    ///   - image: The image of the bytes, if they were decoded.
    ///   - isWhole: False for a thumbnail.
    ///   - request: One of the requests for it.
    ///   - mark: The state of the cache's removals when the load began. If the original was removed since, it is not stored.
    ///   - waits: Whether the caller waits for the write. It waits in any case while too many bytes are waiting to be written.
    /// - Returns: the error of the write, if the caller waits for it.
    func storeOriginal(
        _ bytes: SourceBytes, of image: Image?, isWhole: Bool, for request: ImageRequest, source: String,
        fetch: FetchKey, since mark: RemovalLog.Mark?, waits: Bool, trace: LoadTrace
    ) async -> ImageError? {
        let key = ImageKey(source: source)
        let removals = originals.removals
        func wasRemoved(since mark: RemovalLog.Mark?) -> Bool {
            removals?.hasRemoval(of: key, from: .disk, since: mark) ?? false
        }
        let now = removals?.mark
        guard !wasRemoved(since: mark) else { return nil }
        var write = bytes.write(for: source) ?? bytes.makeWrite(for: source, at: now, replacing: nil)
        // Another load wrote these bytes, and they were removed before this load began.
        if wasRemoved(since: write.mark) { write = bytes.makeWrite(for: source, at: now, replacing: write) }
        let isOverLimit = begin(write.task, of: fetch, bytes: bytes.data.count, trace) {
            [self, write] () throws(ImageError) in
            if let previous = write.previous {
                _ = await previous.task.value
                guard removals?.hasRemoval(of: key, from: .disk, since: write.mark) != true else { return }
            }
            var entry = try await entry(bytes, of: image, isWhole: isWhole, for: request)
            if bytes.source != .disk { entry.limit(to: request.diskLifetime) }
            try await originals.store(entry, forKey: key)
        }
        // The removal may have come in between: it wins.
        if wasRemoved(since: mark) { await originals.discard(key) }
        guard waits || isOverLimit else { return nil }
        return await write.task.value ?? nil
    }

    /// The entry for the bytes of a source: as they came, or as the program's serializer returns them.
    private func entry(
        _ bytes: SourceBytes, of image: Image?, isWhole: Bool, for request: ImageRequest
    ) async throws(ImageError) -> DiskCacheEntry {
        // Bytes from the disk were serialized when they came.
        guard bytes.source != .disk else { return bytes.entry }
        var entry = bytes.entry
        if let made = bytes.image {
            if let data = try await serialized(made, nil, for: request) {
                (entry.data, entry.mimeType) = (data, ImageFormat(sniffing: data)?.mimeType)
            } else {
                let encoded = try await encodedEntry(made, options: EncodeOptions(), priority: WorkPriority(.low))
                (entry.data, entry.mimeType) = (encoded.data, encoded.mimeType)
            }
        }
        if let image, let placeholder = await placeholder(of: image) {
            entry.imageProperties = try? JSONEncoder().encode(placeholder)
        }
        guard bytes.image == nil, serializer(for: request) != nil else { return entry }
        let whole: Image
        if let image, isWhole {
            whole = image
        } else {
            // A thumbnail would replace the original.
            let options = DecodeOptions().completed(
                fileName: request.url.lastPathComponent, mimeType: bytes.entry.mimeType)
            whole = try await decode(bytes.data, options: options, coder: request.coder, priority: WorkPriority(.low))
        }
        guard let data = try await serialized(whole, bytes.data, for: request) else { return entry }
        entry.data = data
        entry.mimeType = ImageFormat(sniffing: data)?.mimeType ?? entry.mimeType
        return entry
    }

    /// The entry for a thumbnail or transformed image.
    func variantEntry(_ image: Image, for request: ImageRequest) async throws(ImageError) -> DiskCacheEntry {
        guard let data = try await serialized(image, nil, for: request) else {
            var entry = try await encodedEntry(
                image, options: request.encodeOptions, coder: request.coder, priority: WorkPriority(.low))
            if let placeholder = await placeholder(of: image) {
                entry.imageProperties = StoredImageProperties(image.properties, placeholder: placeholder).encoded
            }
            entry.response = image.response
            return entry
        }
        return DiskCacheEntry(
            data: data, created: configuration.date(), mimeType: ImageFormat(sniffing: data)?.mimeType,
            imageProperties: StoredImageProperties(image.properties, placeholder: await placeholder(of: image)).encoded,
            response: image.response)
    }

    private func serializer(for request: ImageRequest) -> CacheSerializer? {
        request.cacheSerializer ?? configuration.cacheSerializer
    }

    /// The bytes that the program's serializer returns; `nil` without one.
    private func serialized(_ image: Image, _ data: Data?, for request: ImageRequest) async throws(ImageError) -> Data?
    {
        guard let serializer = serializer(for: request) else { return nil }
        let url = request.url
        return try await configuration.processing.perform(priority: WorkPriority(.low)) { _ throws(ImageError) in
            let bytes: Data?
            do {
                bytes = try serializer(image, data, url)
            } catch {
                throw ImageError(
                    .encodeFailed, stage: .encode, source: url.shortDescription,
                    reason: "the cache serializer failed: \(error)", underlying: error)
            }
            guard bytes?.isEmpty != true else {
                throw ImageError(
                    .encodeFailed, stage: .encode, source: url.shortDescription,
                    reason: "the cache serializer returned no bytes")
            }
            return bytes
        }
    }

    /// Begins a write, unless it has begun. The bytes of the fetch stay shared until it has ended.
    /// - Returns: whether too many bytes are waiting to be written.
    func begin(
        _ write: OnceTask<ImageError?>, of fetch: FetchKey, bytes: Int, _ trace: LoadTrace,
        _ body: @escaping @Sendable () async throws(ImageError) -> Void
    ) -> Bool {
        var isOverLimit = false
        write.begin {
            let stores = shared.stores
            let release = shared.work.hold(.fetch(fetch))
            let number: Int
            (number, isOverLimit) = stores.begin(bytes: bytes, limit: configuration.pendingStoreLimit)
            // Immediate: the cache knows of the write before the load returns, so that a removal after the load comes after it.
            return Task.immediateDetached {
                defer {
                    stores.end(number, bytes: bytes)
                    release()
                }
                do throws(ImageError) {
                    _ = try await observe(.store, of: trace, body)
                    return nil
                } catch {
                    return error
                }
            }
        }
        return isOverLimit
    }
}

extension DiskCacheEntry {
    /// Lets the entry expire after a time, unless it does so earlier.
    mutating func limit(to lifetime: Duration?) {
        guard let lifetime else { return }
        let end = created.addingTimeInterval(max(0, lifetime.inSeconds))
        expires = min(expires ?? end, end)
    }
}
