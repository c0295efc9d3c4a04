internal import FoundationEssentials
internal import Logging

let logger = Logger(label: "tintype")

/// Keeping what was loaded and made.
extension ImageManager {
    /// The thumbnail or transformed image as the disk cache has it, if the request stores such.
    func storedVariant(_ request: ImageRequest, _ work: ImageWork, key: ImageKey, priority: WorkPriority) async
        -> ImageOutcome?
    {
        guard work.storesVariant, !key.variant.isOriginal, work.transform.decode.fetch.readsDisk,
            !work.transform.decode.fetch.refreshes
        else { return nil }
        let start = ContinuousClock.now
        guard let entry = await cache.entry(forKey: key, priority: priority) else { return nil }
        let fetched = FetchedData(entry, source: .disk, diskTime: ContinuousClock.now - start)
        let configuration = configuration
        let coders = coders
        var options = DecodeOptions()
        options.scale = work.transform.decode.options().scale
        options.decodeToHDR = request.decode.decodeToHDR
        let decodeStart = ContinuousClock.now
        let image = try? await configuration.processing.decode(
            limits: configuration.limits, pool: configuration.pool, budget: configuration.budget, priority: priority
        ) { [options] context throws(ImageError) in
            try coders.decode(entry.data, options: options, context: context)
        }
        guard let image else {
            _ = try? await cache.remove(key, from: .disk)
            return nil
        }
        let isTransformed = request.transformer != nil
        return ImageOutcome(
            image: image.with { $0.isTransformed = isTransformed }, fetched: fetched,
            decodeTime: ContinuousClock.now - decodeStart)
    }

    /// Stores the bytes that came, and the variant if it is wanted, unless somebody has.
    /// - Returns: what went wrong, if the request waits for it.
    func store(_ outcome: ImageOutcome, _ request: ImageRequest, _ work: ImageWork, key: ImageKey) async -> ImageError?
    {
        guard work.storeTo.contains(.disk), !outcome.image.isPartial, let fetched = outcome.fetched else { return nil }
        let storesOriginal = fetched.claimStore()
        let storesVariant = work.storesVariant && !key.variant.isOriginal
        guard storesOriginal || storesVariant else { return nil }
        let bytes = (storesOriginal ? fetched.data.count : 0) + (storesVariant ? outcome.image.memoryCost : 0)
        return await keep(bytes: bytes, waits: work.waitsForStore) { [self] () throws(ImageError) in
            if storesOriginal { try await cache.store(fetched.entry, forKey: key.original) }
            if storesVariant {
                let entry = try await encodedEntry(outcome.image, request, priority: WorkPriority(.low))
                try await cache.store(entry, forKey: key)
            }
        }
    }

    /// Writes to the disk cache, which is waited for if that is asked for, or if too many bytes wait already.
    /// - Returns: what went wrong, if `waits`.
    func keep(
        bytes: Int, waits: Bool, _ write: @escaping @Sendable () async throws(ImageError) -> Void
    ) async -> ImageError? {
        let mayContinue = stores.begin(bytes: bytes, limit: configuration.pendingStoreLimit)
        let task = Task.detached { [stores] () -> ImageError? in
            defer { stores.end(bytes: bytes) }
            do throws(ImageError) {
                try await write()
                return nil
            } catch {
                return error
            }
        }
        guard waits || !mayContinue else { return nil }
        let error = await task.value
        return waits ? error : nil
    }

    /// An image as the disk keeps it, encoded as the request says.
    func encodedEntry(
        _ image: Image, _ request: ImageRequest, priority: WorkPriority
    ) async throws(ImageError) -> DiskCacheEntry {
        let coders = coders
        var options = request.encode
        // What is read back is to be what was made.
        if image.isHighDynamicRange { options.encodeToHDR = .isoHDR }
        let format = Self.storedFormat(of: image, encodable: coders.encodableFormats)
        let data = try await configuration.processing.perform(priority: priority) {
            [options] isCancelled throws(ImageError) in
            try coders.encode(image, as: format, options: options, context: EncodeContext(isCancelled: isCancelled))
        }
        return DiskCacheEntry(data: data, created: configuration.date(), mimeType: format.mimeType)
    }

    /// The source's format if it can be written with what the image has, else PNG with alpha or more than 8 bits and JPEG
    /// without.
    static func storedFormat(of image: Image, encodable: Set<ImageFormat>) -> ImageFormat {
        if let format = image.format, encodable.contains(format), format.storesAlpha || !image.hasAlpha {
            return format
        }
        if image.isAnimated, encodable.contains(.gif) { return .gif }
        return image.hasAlpha || image.pixels.format != .rgba8 ? .png : .jpeg
    }
}
