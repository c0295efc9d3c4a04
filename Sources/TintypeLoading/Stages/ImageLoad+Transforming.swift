extension ImageLoad {
    /// The image of the same request without a transformer, transformed.
    func makeTransformed(_ job: LoadWork.Job) async throws(ImageError) -> PipelineOutput {
        var plain = request
        plain.transformer = nil
        plain.transformsAnimatedImages = false
        plain.transformsVectorImages = false
        plain.cache.storesVariant = false
        plain.cache.query.remove(.memory)
        if request.cache.queryOriginal?.contains(.memory) == true { plain.cache.query.insert(.memory) }
        let full = plain
        // The memory cache has the image in the size that a request without a transformer gets.
        // The source has another identity for each size that is asked of it.
        if !key.usesOriginalInMemory, !plain.loadsTargetSize { plain.decode.shrink(for: request.transformer) }
        // In another size, only the transformed image is shown.
        var decoded = try await plainOutput(plain, job, showsUnchanged: plain.decode == full.decode)
        // An image that isn't transformed keeps its size.
        if plain.decode != full.decode, !isTransformed(decoded.image) {
            let first = decoded
            decoded = try await plainOutput(full, job, showsUnchanged: true, since: decoded.bytes?.removals)
            // This load asked for the bytes, whatever the second look at them says.
            (decoded.source, decoded.freshness) = (first.source, first.freshness)
        }
        var output = (value: decoded.image, time: StageTime.zero)
        if isTransformed(decoded.image) {
            output = try await environment.observe(.transform, of: trace) { () throws(ImageError) in
                try await applyTransformer(to: decoded.image, job)
            }
        }
        return PipelineOutput(
            image: output.value.with(decoded.image.response), bytes: decoded.bytes, source: decoded.source,
            freshness: decoded.freshness, decodeTime: decoded.decodeTime, transformTime: output.time)
    }

    /// The output of a request without a transformer. Its previews are transformed.
    private func plainOutput(
        _ plain: ImageRequest, _ job: LoadWork.Job, showsUnchanged: Bool, since removals: SourceRemovals? = nil
    ) async throws(ImageError) -> PipelineOutput {
        let load = ImageLoad(
            plain, key: environment.key(for: plain), environment: environment, trace: trace, for: self, since: removals)
        let previews = NewestWork<LoadUpdate> { [self] update in
            // A preview that cannot be transformed is left out; the image itself will tell why.
            switch update {
            case .preview(let image) where showsUnchanged || isTransformed(image):
                if let preview = await transformedPreview(image, job) { job.publish(.preview(preview)) }
            case .outdated(let image) where showsUnchanged || isTransformed(image):
                if let preview = await transformedPreview(image, job) { job.publish(.outdated(preview)) }
            default: break
            }
        }
        let result = await Result { () async throws(ImageError) in
            try await load.output(for: job) { update in
                switch update {
                case .preview, .outdated: previews.send(update)
                case .progress: job.publish(update)
                case .arriving, .asking: break
                }
            }
        }
        await previews.end()
        return try result.get()
    }

    private func transformedPreview(_ preview: Image, _ job: LoadWork.Job) async -> Image? {
        // No frame is transformed before it is known whether all are.
        guard !preview.properties.mayMove || preview.isAnimated || request.transformsAnimatedImages else { return nil }
        return try? await applyTransformer(to: preview, job)
    }

    /// True if the request's transformer applies to an image of this kind.
    private func isTransformed(_ image: Image) -> Bool {
        (!image.isAnimated || request.transformsAnimatedImages) && (!image.isVector || request.transformsVectorImages)
    }

    private func applyTransformer(to image: Image, _ job: LoadWork.Job) async throws(ImageError) -> Image {
        guard let transformer = request.transformer, isTransformed(image) else { return image }
        let configuration = environment.configuration
        let decodeOptions = request.decode
        return try await configuration.processing.perform(priority: job.priority, releasesImage: true) {
            isCancelled throws(ImageError) in
            try image.transformed(
                transformer,
                in: ProcessingContext(
                    limits: configuration.limits, pool: configuration.pool, isCancelled: isCancelled)
            ).with { properties in
                // The size at which the source was decoded for the transformer isn't a property of the result.
                properties.decodeOptions.thumbnailSize = decodeOptions.thumbnailSize
                properties.decodeOptions.coversThumbnailSize = decodeOptions.coversThumbnailSize
            }
        }
    }
}
