internal import FoundationEssentials

extension ImageLoad {
    /// Stores the output as the request asks, unless another request has; waits for the disk if the request says so, or if too many bytes
    /// are waiting already.
    ///
    /// The writes are on their way when this returns, so that a removal after the load comes after them.
    /// - Returns: the error of the write, if the request waits for it.
    func store(_ output: PipelineOutput) async -> ImageError? {
        guard !layersToStore.isEmpty, !output.image.isPartial, output.source != .memory,
            output.mayBeCached({ environment.configuration.shouldCache?(output.image, request) ?? true })
        else { return nil }
        let hasReplaced = output.bytes?.hasReplacement(for: key.image.source) ?? false
        let mark = hasReplaced ? environment.cache.removals?.mark : output.mark
        if layersToStore.contains(.memory), output.claimMemoryStore() {
            environment.cache.storeInMemory(output.image, forKey: key.image)
            if wasRemoved(key.image, from: .memory, since: mark) {
                _ = try? await environment.cache.remove(key.image, from: .memory)
            }
        }
        guard layersToStore.contains(.disk), let bytes = output.bytes else { return nil }
        var error: ImageError?
        if bytes.needsStoring {
            error = await environment.storeOriginal(
                bytes, source: key.image.source, download: key.download, since: mark, waits: request.waitsForStore)
        }
        if request.storesVariant, !key.image.variant.isOriginal, !output.isStored, request.coderToken == 0,
            !wasRemoved(key.image, from: .disk, since: mark)
        {
            let write = output.variantWrite
            let isOverLimit = environment.begin(write, of: key.download, bytes: output.image.memoryCost) {
                [self] () throws(ImageError) in
                let entry = try await environment.encodedEntry(
                    output.image, options: request.encodeOptions, priority: WorkPriority(.low))
                guard !wasRemoved(key.image, from: .disk, since: mark) else { return }
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
