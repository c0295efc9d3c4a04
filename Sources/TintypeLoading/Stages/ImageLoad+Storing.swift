internal import FoundationEssentials

extension ImageLoad {
    /// Stores the output as the request asks, unless another request has; waits for the disk if the request says so, or if too many bytes
    /// are waiting already.
    ///
    /// The writes are on their way when this returns, so that a removal after the load comes after them.
    /// - Returns: the error of the write, if the request waits for it.
    func store(_ output: PipelineOutput) async -> ImageError? {
        guard storesOriginal || !layersToStore.isEmpty, !output.image.isPartial,
            output.source != .memory || !output.isStored,
            environment.mayStore(output.image.response, for: request),
            output.mayBeCached({ environment.configuration.shouldCache?(output.image, request) ?? true })
        else { return nil }
        let hasReplaced = output.bytes?.hasReplacement(for: key.image.source) ?? false
        let marks = hasReplaced ? environment.removalMarks : output.marks
        if layersToStore.contains(.memory), output.claimMemoryStore() {
            environment.cache.storeInMemory(output.image, forKey: key.image)
            if wasRemoved(key.image, from: .memory, since: marks?.images) {
                _ = try? await environment.cache.remove(key.image, from: .memory)
            }
        }
        var error: ImageError?
        if storesOriginal, let bytes = output.bytes, bytes.needsStoring {
            error = await environment.storeOriginal(
                bytes, of: request.transformer == nil ? output.image : nil, isWhole: key.image.variant.isOriginal,
                for: request, source: key.image.source, fetch: key.fetch, since: marks?.originals,
                waits: request.waitsForStore, trace: trace)
        }
        if layersToStore.contains(.disk), request.storesVariant, !key.image.variant.isOriginal, !output.isStored,
            request.coderToken == 0,
            !wasRemoved(key.image, from: .disk, since: marks?.images)
        {
            let write = output.variantWrite
            let isOverLimit = environment.begin(write, of: key.fetch, bytes: output.image.memoryCost, trace) {
                [self] () throws(ImageError) in
                var entry = try await environment.variantEntry(output.image, for: request)
                entry.limit(to: request.diskLifetime)
                guard !wasRemoved(key.image, from: .disk, since: marks?.images) else { return }
                try await environment.cache.store(entry, forKey: key.image)
            }
            if request.waitsForStore || isOverLimit {
                let variantError = await write.value ?? nil
                error = error ?? variantError
            }
        }
        return request.waitsForStore ? error : nil
    }

    private func wasRemoved(_ key: ImageKey, from layer: CacheLayers, since mark: RemovalLog.Mark?) -> Bool {
        environment.cache.removals?.hasRemoval(of: key, from: layer, since: mark) ?? false
    }
}
