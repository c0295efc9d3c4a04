internal import FoundationEssentials
internal import Logging

extension LoadEnvironment {
    /// Writes the bytes of a source to disk, once for all loads that share them, unless the source was removed since they were asked for.
    ///
    /// It waits for the write while too many bytes are waiting to be written.
    /// - Parameters:
    ///   - image: The image of the bytes, if they were decoded.
    ///   - isWhole: False for a thumbnail.
    ///   - request: Any of the requests for it.
    ///   - lifetime: The lifetime of the bytes.
    func storeOriginal(
        _ bytes: SourceBytes, of image: Image?, isWhole: Bool, for request: ImageRequest, fetch: FetchKey,
        lifetime: Duration?, trace: LoadTrace
    ) async -> Promise<ImageError?> {
        let (promise, isFirst) = bytes.claimWrite()
        guard isFirst else { return promise }
        // Only a serializer needs the image, which is held until the write ends.
        let image = configuration.cacheSerializer == nil ? nil : image
        return await write(
            fetch.original, to: originals, since: (bytes.removals ?? fetch.removals).originals,
            of: fetch, bytes: (bytes.image?.memoryCost ?? bytes.data.count) + (image?.memoryCost ?? 0),
            lifetime: bytes.source == .disk ? nil : lifetime, trace, fulfilling: promise
        ) { [self] () throws(ImageError) in try await entry(bytes, of: image, isWhole: isWhole, for: request) }
    }

    /// The entry for the bytes of a source: as they came, or as the program's serializer returns them.
    private func entry(
        _ bytes: SourceBytes, of image: Image?, isWhole: Bool, for request: ImageRequest
    ) async throws(ImageError) -> DiskCacheEntry {
        // Bytes from the disk were serialized when they came.
        guard bytes.source != .disk else { return bytes.entry }
        var entry = bytes.entry
        if let made = bytes.image {
            let data = try await serialized(made, nil, for: request)
            let priority = WorkPriority(request.priority)
            let encoded = try await encodedEntry(made, as: data, options: EncodeOptions(), priority: priority)
            (entry.data, entry.mimeType) = (encoded.data, encoded.mimeType)
        }
        guard bytes.image == nil, configuration.cacheSerializer != nil else { return entry }
        let whole: Image
        if let image, isWhole {
            whole = image
        } else {
            // A thumbnail would replace the original.
            let options = DecodeOptions().completed(fileName: request.url.fileName, mimeType: bytes.entry.mimeType)
            whole = try await decode(bytes.data, of: request.url, options: options, priority: WorkPriority(.low))
        }
        guard let data = try await serialized(whole, bytes.data, for: request) else { return entry }
        entry.data = data
        entry.mimeType = ImageFormat(sniffing: data)?.mimeType ?? entry.mimeType
        return entry
    }

    /// The entry for a thumbnail or transformed image.
    func variantEntry(_ image: Image, for request: ImageRequest) async throws(ImageError) -> DiskCacheEntry {
        let data = try await serialized(image, nil, for: request)
        var entry = try await encodedEntry(
            image, as: data, options: request.cache.encoding, priority: WorkPriority(request.priority))
        entry.answer = image.response
        return entry
    }

    /// The bytes that the program's serializer returns; `nil` if there is none.
    private func serialized(_ image: Image, _ data: Data?, for request: ImageRequest) async throws(ImageError) -> Data?
    {
        guard let serializer = configuration.cacheSerializer else { return nil }
        let (url, priority) = (request.url, WorkPriority(request.priority))
        return try await configuration.processing.perform(priority: priority, releasesImage: true) {
            _ throws(ImageError) in
            func failure(_ reason: String, _ error: (any Error)? = nil) -> ImageError {
                ImageError(
                    .encodeFailed, stage: .encode, source: url.shortDescription,
                    reason: "the cache serializer \(reason)", underlying: error)
            }
            let bytes: Data?
            do { bytes = try serializer(image, data, url) } catch { throw failure("failed: \(error)", error) }
            guard bytes?.isEmpty != true else { throw failure("returned no bytes") }
            return bytes
        }
    }

    /// Starts to write an entry to the disk of a cache, unless its source is removed meanwhile, and waits for it if too many bytes are
    /// waiting to be written. The bytes of the fetch stay shared until it has ended.
    /// - Parameters:
    ///   - removals: The removals before the load.
    ///   - bytes: The memory that the write holds, in bytes.
    ///   - original: The entry that the new entry is made of.
    ///   - entry: Makes the entry.
    func write(
        _ key: ImageKey, to cache: ImageCache, since removals: RemovalCount, of fetch: FetchKey, bytes: Int,
        lifetime: Duration?, madeOf original: DiskCacheEntry? = nil, _ trace: LoadTrace,
        fulfilling write: Promise<ImageError?> = Promise(),
        _ entry: @escaping @Sendable () async throws(ImageError) -> DiskCacheEntry
    ) async -> Promise<ImageError?> {
        let (stores, release) = (shared.stores, shared.work.keepValue(of: .fetch(fetch)))
        let (number, isOverLimit) = stores.begin(bytes: bytes, limit: configuration.pendingStoreLimit)
        // Immediate: the cache knows of the write before the load returns, so that a removal after the load comes after it.
        Task.immediateDetached {
            var failure: ImageError?
            do throws(ImageError) {
                _ = try await observe(.store, of: trace) { () throws(ImageError) in
                    var entry = try await entry()
                    entry.limit(to: lifetime, madeOf: original)
                    try await cache.store(entry, forKey: key, since: removals)
                }
            } catch {
                failure = error
            }
            stores.end(number, bytes: bytes)
            release()
            write.fulfill(failure)
        }
        if isOverLimit {
            // No transfer brings more meanwhile. A cache of the program's own may wait for one.
            let room = cache.disk is DiskCache ? bytes : 0
            configuration.budget.takeRoom(room)
            defer { configuration.budget.returnRoom(room) }
            _ = await write.value
        }
        return write
    }

    /// The first error of some writes, once all have ended. The wait is a job, as ``ImageManager/cancelAll()`` ends it.
    func firstError(of writes: [Promise<ImageError?>]) async throws(ImageError) -> ImageError? {
        guard !writes.isEmpty else { return nil }
        let value = try await shared.work.value(.stores(SharedWorkID.next()), LoadWishes(), .stores(writes))
        guard case .stores(let error) = value else { throw .cancelled }  // Never: the key says so.
        return error
    }

    // MARK: Removals beside loads

    func removals(ofSource source: String) -> SourceRemovals {
        let images = cache.removalCount(ofSource: source)
        return SourceRemovals(
            images: images, originals: hasOwnOriginals ? originals.removalCount(ofSource: source) : images)
    }

    /// Removes every variant of a source, and its original.
    func removeAll(ofSource source: String) async throws(ImageError) {
        // The original goes first, so that variants made from it in the meantime are removed with the rest.
        if hasOwnOriginals { try await originals.removeAll(ofSource: source, from: .all) }
        try await cache.removeAll(ofSource: source, from: .all)
    }

    /// Removes the bytes in which the image of a request was encoded, in any format.
    func removeEncoded(of request: ImageRequest) async throws(ImageError) {
        guard mayStoreEncoded(of: request.url) else { return }
        var plain = request
        plain.cache.storesVariant = false
        let key = key(for: plain)
        for variant in await cache.disk?.variants(ofSource: key.source) ?? [] where variant.isEncoded(of: key.variant) {
            _ = try await cache.remove(ImageKey(source: key.source, variant: variant), from: .disk)
        }
    }

    /// Has new bytes replace what the caches have of their source, once for all loads of the bytes, and then stores.
    ///
    /// Both are one step, which no cancellation ends: whoever removes the old bytes stores the new ones. A flush waits for it.
    func replaceVariants(with bytes: SourceBytes?, _ store: () async -> Void) async {
        guard let bytes, let number = bytes.number, let key = bytes.fetch else { return await store() }
        let step = shared.stores.begin().number
        defer { shared.stores.end(step) }
        await bytes.replaceOnce { await replaceVariants(ofSource: key.original.source, by: number, since: $0) }
        await store()
    }

    /// Removes every variant of a source that newer bytes replace.
    /// - Parameters:
    ///   - number: The number of the newer bytes.
    ///   - removals: The removals when they were asked for.
    /// - Returns: The removals for the stores of the newer bytes; `nil` if there was a removal meanwhile, so that the caches have neither the old
    ///   image nor the new, or a newer replacement, which stays.
    private func replaceVariants(
        ofSource source: String, by number: Int, since removals: SourceRemovals
    ) async -> SourceRemovals? {
        var isClear = true
        // The original goes first, so that variants made from it in the meantime are removed with the rest.
        var caches = [(cache, removals.images)]
        if hasOwnOriginals { caches.insert((originals, removals.originals), at: 0) }
        for (cache, count) in caches {
            do throws(ImageError) {
                try await cache.clear(source: source, forReplacement: number, since: count)
            } catch {
                isClear = false
                configuration.logger.warning(
                    "couldn't remove the outdated variants of \(URLDescription.redacted(source)): \(error.reason)")
            }
        }
        guard isClear else { return nil }
        return self.removals(ofSource: source).afterReplacement(by: number, since: removals)
    }
}
