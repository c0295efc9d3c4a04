public import FoundationEssentials
internal import Logging

/// The caches by request, as loads use them.
extension ImageManager {
    /// Returns the cache key of a request's image.
    /// - Parameter request: the request.
    public func key(for request: ImageRequest) -> ImageKey {
        let environment = environment
        return environment.key(for: environment.prepared(request))
    }

    /// Returns the image of a request if it is in memory, at once.
    ///
    /// ```swift
    /// if let image = manager.memoryImage(for: request) { show(image) }
    /// ```
    /// - Parameter request: the request.
    public func memoryImage(for request: ImageRequest) -> Image? {
        let (request, environment) = prepared(request)
        return environment.memoryImage(request, key: environment.key(for: request))
    }

    /// Returns the image of a request if it is in memory or on disk; `nil` if the caches can't supply it.
    ///
    /// This is a load with ``CachePolicy/cacheOnly``, instead of the request's policy: it never asks the source. It decodes and transforms
    /// the entry on disk, shares that work with equal loads, and stores the result in memory if asked to. Discards a damaged entry.
    ///
    /// ```swift
    /// let offline = try await manager.cachedImage(for: request)  // nil if the caches don't have it
    /// ```
    /// - Parameter request: the request.
    /// - Throws: ``ImageError`` if the request is invalid, if a cached image is damaged, exceeds a limit or can't be transformed, or if the
    ///   calling task is canceled.
    nonisolated(nonsending) public func cachedImage(for request: ImageRequest) async throws(ImageError) -> Image? {
        var (request, environment) = prepared(request)
        request.cachePolicy = .cacheOnly
        let key = environment.key(for: request)
        if let hit = environment.memoryHit(request, key: key) { return hit.image }
        do throws(ImageError) {
            return try await Self.loaded(request, key, environment).image
        } catch {
            if error.code == .notCached { return nil }
            throw error
        }
    }

    /// Stores an image where loads of the request will look for it: in the layers of ``ImageRequest/CacheOptions/store``.
    ///
    /// The disk stores originals, and, for requests with ``ImageRequest/CacheOptions/storesVariant``, thumbnails and transformed images.
    /// Other images are stored in memory only, because no load looks for them on disk. So are images from local files and `data:` URLs,
    /// because files may change. An original that is read back from disk is decoded from its bytes, with the scale in the URL's name.
    ///
    /// In a copy with its own coders (``copy(cache:loader:coders:configuration:)``), every image counts as a variant: the disk stores it
    /// only with ``ImageRequest/CacheOptions/storesVariant``, and never if the coders have no ``ImageCoder/identifier``. A list of coders
    /// has none.
    ///
    /// Loads in progress don't overwrite it. Thumbnails and transformed images of another original remain until
    /// ``removeAll(of:)-(ImageRequest)`` removes them. The image is stored even if the calling task is canceled.
    ///
    /// ```swift
    /// try await manager.store(image, data: data, for: ImageRequest(url))
    /// await manager.flush()  // waits until it is on disk
    /// ```
    /// - Parameters:
    ///   - image: The image.
    ///   - data: The encoded bytes for the disk, unchecked; `nil` to encode the image with ``ImageRequest/CacheOptions/encoding``. The
    ///     original of an animation that hasn't changed since it was decoded is stored as its own bytes, unless an encoding is set.
    ///   - request: The request whose loads find the image.
    /// - Throws: ``ImageError/Code/encodeFailed``, ``ImageError/Code/formatNotEncodable``,
    ///   ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``. The image is in memory even then.
    public func store(_ image: Image, data: Data? = nil, for request: ImageRequest) async throws(ImageError) {
        let (request, environment) = prepared(request)
        try environment.check(request)
        let key = environment.key(for: request)
        let caches = environment.hasOwnOriginals ? [environment.cache, environment.originals] : [environment.cache]
        // What the program stores is there, whatever failed before.
        environment.shared.failures.withLock { $0.removeAll(source: key.source) }
        // Loads under way, and those that start before the end, don't store what is replaced.
        for cache in caches { await cache.beginReplacement(ofSource: key.source) }
        defer { for cache in caches { cache.endReplacement(ofSource: key.source) } }
        let now = environment.configuration.date()
        // Nothing but the request's credentials.
        let response = environment.storedResponse(
            LoadedData(data: Data(), url: request.url), of: request, with: environment.selectingFields(of: request),
            requestTime: now, now: now)
        let image = image.with(response)
        if request.cache.store.contains(.memory) { environment.cache.storeInMemory(image, forKey: key) }
        // Those were made of the image that this one replaces.
        try await environment.removeEncoded(of: request)
        let isOriginal = key.variant.isOriginal
        let removals = environment.removals(ofSource: key.source)
        var count = isOriginal ? removals.originals : removals.images
        (count.replacements, count.newest) = (nil, nil)
        let cache = isOriginal ? environment.originals : environment.cache
        let layers = isOriginal ? request.cache.storeOriginal ?? request.cache.store : request.cache.store
        guard layers.contains(.disk), cache.disk != nil, !environment.loaders.isLocal(request.url),
            environment.cachesOnDisk, isOriginal || request.cache.storesVariant
        else { return }
        let isAsItCame = isOriginal && request.cache.encoding == EncodeOptions()
        let data = data ?? (isAsItCame ? image.bytesOfUnchangedAnimation(among: environment.coders) : nil)
        // In a task of its own: if a cancellation ended it, the disk would keep the image that memory has lost.
        let encoding = Task.immediate {
            await Result { () async throws(ImageError) in
                try await environment.encodedEntry(
                    image, as: data, options: request.cache.encoding, priority: WorkPriority(request.priority))
            }
        }
        var entry = try await encoding.value.get()
        // Loads decode an original as its source sends it, and so would not read them.
        if isOriginal { entry.imageProperties = nil }
        entry.answer = response
        entry.limit(to: request.cache.lifetime)
        try await cache.store(entry, forKey: key, since: count)
    }

    /// Returns the layers that have the image of a request. The original that it could be made from doesn't count.
    /// - Parameter request: the request.
    public func cachedLayers(for request: ImageRequest) async -> CacheLayers {
        let (request, environment) = prepared(request)
        let key = environment.key(for: request)
        guard environment.hasOwnOriginals, key.variant.isOriginal
        else { return await environment.cache.contains(key, in: .all) }
        return await environment.cache.contains(key, in: .memory).union(environment.originals.contains(key, in: .disk))
    }

    /// Removes the image of a request, including its formats from ``encoded(for:as:options:)``. ``removeAll(of:)-(ImageRequest)`` removes
    /// the other variants of its source, too.
    /// - Parameters:
    ///   - request: the request.
    ///   - layers: the layers to remove it from.
    /// - Returns: true if an entry was removed.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``
    @discardableResult public func removeCachedImage(
        for request: ImageRequest, from layers: CacheLayers = .all
    ) async throws(ImageError) -> Bool {
        let (request, environment) = prepared(request)
        let key = environment.key(for: request)
        var wasOriginal = false
        if environment.hasOwnOriginals, key.variant.isOriginal {
            wasOriginal = try await environment.originals.remove(key, from: layers)
        }
        if layers.contains(.disk) { try await environment.removeEncoded(of: request) }
        return try await environment.cache.remove(key, from: layers) || wasOriginal
    }

    /// Returns the keys of all unexpired images that the disk cache has for a request's source: original, thumbnails, and transformed.
    /// - Parameter request: the request.
    public func cachedVariants(of request: ImageRequest) async -> [ImageKey] {
        let (request, environment) = prepared(request)
        let source = environment.source(of: request)
        var variants = await environment.cache.disk?.variants(ofSource: source) ?? []
        if environment.hasOwnOriginals {
            let originals = await environment.originals.disk?.variants(ofSource: source) ?? []
            variants = originals.filter(\.isOriginal) + variants.filter { !$0.isOriginal }
        }
        var keys: [ImageKey] = []
        for variant in variants {
            let key = ImageKey(source: source, variant: variant)
            let cache = variant.isOriginal ? environment.originals : environment.cache
            if await cache.contains(key, in: .disk) == .disk { keys.append(key) }
        }
        return keys
    }

    /// Removes every variant of a request's source from memory and disk.
    ///
    /// ```swift
    /// try await manager.removeAll(of: request)  // the original, and every thumbnail
    /// ```
    /// - Parameter request: the request.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``
    public func removeAll(of request: ImageRequest) async throws(ImageError) {
        let (request, environment) = prepared(request)
        try await environment.removeAll(ofSource: environment.source(of: request))
    }

    /// Removes every variant of a URL from memory and disk.
    /// - Parameter url: the URL.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``
    public func removeAll(of url: URL) async throws(ImageError) { try await removeAll(of: ImageRequest(url)) }

    // MARK: The end of a program

    /// Waits until all images loaded before are stored as their requests ask, including background revalidation
    /// (``CachePolicy/staleWhileRevalidate``).
    public func flush() async {
        await shared.revalidations.wait()
        await shared.stores.wait()
        await cache.flush()
        await configuration.originalCache?.flush()
    }

    /// Removes expired entries from disk.
    ///
    /// Limits hold, and expired entries aren't returned, without this call. It only frees their space: call it when the program's window is
    /// hidden, or once a day in a server.
    /// - Returns: the entries that were removed from the disks of both caches.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``
    @discardableResult public func removeExpired() async throws(ImageError) -> CacheUsage {
        var sweep = try await cache.removeExpired()
        if let originals = configuration.originalCache { sweep += try await originals.removeExpired() }
        return sweep
    }

    /// Ends all loads, waits until the bytes that have arrived are on disk, and removes expired entries. Call it at the end of the program,
    /// for example on `SIGTERM`.
    ///
    /// It completes even if the calling task is canceled. Later loads work as usual. A failure to remove expired entries is logged.
    /// - Parameter removingExpired: False to leave expired entries on disk.
    public func shutdown(removingExpired: Bool = true) async {
        await Task { [self] in
            cancelAll()
            await shared.stores.wait()
            if removingExpired {
                do throws(ImageError) {
                    try await removeExpired()
                } catch {
                    configuration.logger.warning("couldn't remove expired entries: \(error)")
                }
            }
            await flush()
        }.value
    }
}
