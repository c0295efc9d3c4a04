public import FoundationEssentials

extension AnimatedImageCoder {
    /// Decodes the first frame, and provides the frames as an animation. So an animated coder only needs to implement a frame decoder.
    ///
    /// The memory of the first frame is reserved when the header is known.
    /// - Parameters:
    ///   - data: the encoded image.
    ///   - options: the options for decoding.
    ///   - context: the limits and the memory of the call, and its cancellation.
    /// - Throws: the errors of the frame decoder.
    public func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        let decoder = try frameDecoder(for: data, options: options, context: context)
        let info = decoder.info
        let format = options.pixelFormat(
            bitsPerComponent: info.bitsPerComponent, isHighDynamicRange: info.isHighDynamicRange)
        try context.limits.check(frameCount: info.frameCount)
        try context.limits.check(
            size: info.size, output: decoder.outputSize, frameCount: 1, bytesPerPixel: format.bytesPerPixel)
        let reservation = try context.reserve(PixelBufferPool.footprint(of: decoder.outputSize, format: format))
        defer { withExtendedLifetime(reservation) {} }
        guard let frame = try decoder.nextFrame() else {
            throw ImageError(.truncatedImage, stage: .decode, reason: "the image has no frame")
        }
        return Image(pixels: frame.pixels, properties: info.properties(options))
            .animated(by: self, data, info, options: options, context)
    }
}

extension Image {
    /// Returns the image as the first frame of an animation, if it has several frames, and the options don't ask for the first frame
    /// alone.
    package func animated(
        by coder: any AnimatedImageCoder, _ data: Data, _ info: ImageInfo, options: DecodeOptions,
        _ context: ProcessingContext
    ) -> Image {
        guard info.isAnimated, !options.firstFrameOnly else { return with { $0.loopCount = 0 } }
        var entryCoder = EntryCoder(
            coders: ImageCoders([coder]), limits: context.limits, pool: context.pool, budget: context.budget,
            processing: context.processing)
        entryCoder.origin = context.origin
        let poster = with { $0.loopCount = info.loopCount ?? 0 }
        let contents = AnimationContents(data, info, options: options, entryCoder, poster: poster)
        return poster.with(AnimatedImage(contents, poster: poster, pressure: context.memoryPressure))
    }
}
