extension Image {
    /// Returns this image transformed by a transformer. The later frames of an animation are transformed when they are due.
    ///
    /// Runs on the calling thread. An empty sequence of transformers returns the image unchanged.
    ///
    /// ```swift
    /// let avatar = try image.transformed(.resize(width: 64, height: 64, mode: .aspectFill).circle())
    /// ```
    /// - Parameter transformer: the transformer.
    /// - Returns: the transformed image.
    /// - Throws: ``ImageError/Code/transformFailed``, or the ``ImageError`` that the transformer throws;
    ///   ``ImageError/Code/cancelled`` if the current task is canceled.
    public func transformed(_ transformer: any ImageTransformer) throws(ImageError) -> Image {
        if let list = transformer as? ImageTransformers, list.transformers.isEmpty { return self }
        do {
            let picture = try applying(transformer)
            guard let animation, !picture.isAnimated else { return picture }
            return picture.with(animation.transformed(transformer, poster: picture))
        } catch let error as ImageError {
            throw error
        } catch {
            throw ImageError(
                .transformFailed, stage: .transform, reason: "the transformer \(transformer.key) failed: \(error)",
                underlying: error)
        }
    }

    /// Returns the result of a transformer in an environment.
    package func transformed(
        _ transformer: any ImageTransformer, in context: ProcessingContext
    ) throws(ImageError) -> Image {
        try ProcessingContext.$current.withValue(context.at(.transform)) {
            Result { () throws(ImageError) in try transformed(transformer) }
        }.get()
    }

    /// Returns the result of a transformer, with the metadata of this image unless the transformer changes it.
    func applying(_ transformer: any ImageTransformer) throws -> Image {
        try ProcessingContext.current.checkCancellation()
        let result = try transformer.transform(firstFrame).with { properties in
            properties.isTransformed = true
            // A program may draw a vector source again for another size, but not what a transformer made.
            properties.isVector = false
        }
        guard transformer.preservesMetadata else {
            return result.with { $0.isPartial = $0.isPartial || isPartial }
        }
        let (source, defaults) = (properties, Properties())
        return result.with { new in
            if new.format == nil { new.format = source.format }
            if new.metadata == defaults.metadata { new.metadata = source.metadata }
            if new.sourceSize == nil { new.sourceSize = source.sourceSize }
            if new.sourceOrientation == defaults.sourceOrientation { new.sourceOrientation = source.sourceOrientation }
            if new.decodeOptions == defaults.decodeOptions { new.decodeOptions = source.decodeOptions }
            if new.bitsPerComponent == defaults.bitsPerComponent { new.bitsPerComponent = source.bitsPerComponent }
            if new.scale == defaults.scale { new.scale = source.scale }
            // The color space stays the same, unless the transformer specifies another.
            if new.colorSpace == defaults.colorSpace, result.pixels.format == pixels.format {
                new.colorSpace = source.colorSpace
                new.isHighDynamicRange = source.isHighDynamicRange
            }
            new.isPartial = new.isPartial || source.isPartial
        }
    }
}
