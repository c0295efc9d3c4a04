internal import FoundationEssentials

extension ImageLoad {
    /// The wishes of the request for storing.
    var wishes: LoadWishes {
        var layers: StoredLayers = []
        if request.cache.store.contains(.memory) { layers.insert(.imageInMemory) }
        if request.cache.store.contains(.disk), environment.cache.disk != nil, !key.image.variant.isOriginal,
            environment.mayStoreVariant(request)
        {
            layers.insert(.imageOnDisk)
        }
        if request.transformer != nil, request.cache.storeOriginal?.contains(.memory) == true {
            layers.insert(.originalInMemory)
        }
        if environment.storesOriginal(request) { layers.insert(.originalOnDisk) }
        return LoadWishes(priority: request.priority, layers: layers, lifetime: request.cache.lifetime)
    }

    /// Stores the output, unless its source was removed since the load started. New bytes replace all variants of the old ones.
    ///
    /// The writes to disk are on their way when this returns, so that a removal after the load comes after them. It waits for them if too
    /// many bytes are waiting already.
    func store(_ output: PipelineOutput, _ wishes: LoadWishes) async {
        guard output.source != .memory || !output.isStored, !output.image.isPartial else { return }
        await environment.replaceVariants(with: output.bytes) { if mayKeep(output) { await keep(output, wishes) } }
    }

    private func keep(_ output: PipelineOutput, _ wishes: LoadWishes) async {
        let cache = environment.cache
        let removals = output.bytes?.removals ?? key.fetch.removals
        if wishes.layers.contains(.imageInMemory) {
            cache.storeInMemory(output.image, forKey: key.image, since: removals.images)
        }
        if wishes.layers.contains(.originalOnDisk), let bytes = output.bytes, bytes.needsStoring {
            let write = await environment.storeOriginal(
                bytes, of: request.transformer == nil ? output.image : nil, isWhole: key.image.variant.isOriginal,
                for: request, fetch: bytes.fetch ?? key.fetch, lifetime: wishes.lifetime, trace: trace)
            output.stores.add(write)
        }
        // Nobody knows from which contents of a file an image in memory was made.
        if wishes.layers.contains(.imageOnDisk), !output.isStored,
            output.bytes != nil || !environment.isFile(request.url)
        {
            let write = await environment.write(
                key.image, to: cache, since: removals.images, of: output.bytes?.fetch ?? key.fetch,
                bytes: output.image.memoryCost, lifetime: wishes.lifetime, madeOf: output.bytes?.entry, trace
            ) { [self] () throws(ImageError) in
                var entry = try await environment.variantEntry(output.image, for: request)
                entry.validators = environment.isFile(request.url) ? output.bytes?.entry.validators : nil
                return entry
            }
            output.stores.add(write)
        }
    }

    /// True if the caches may keep an output: a whole image, if neither its source nor the program forbids it.
    func mayKeep(_ output: PipelineOutput) -> Bool {
        guard !output.image.isPartial, environment.mayStore(output.image.response, for: request) else { return false }
        guard let shouldCache = environment.configuration.shouldCache else { return true }
        return output.stores.mayBeCached { shouldCache(output.image, request) }
    }
}
