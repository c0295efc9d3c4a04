public import FoundationEssentials

extension AnimatedImageCoder {
    /// Decodes all frames as one image, or only the first one. So an animated coder only needs to provide its frames.
    ///
    /// The memory is reserved when the header is known. If a decoder provides fewer frames than its ``FrameDecoder/info`` says,
    /// the image is partial, which is an error unless the options allow it. Additional frames are ignored.
    public func decode(_ data: Data, options: DecodeOptions, context: DecodeContext) throws(ImageError) -> Image {
        let decoder = try frameDecoder(for: data, options: options, context: context)
        let info = decoder.info
        let wanted = options.firstFrameOnly ? 1 : max(1, info.frameCount)
        let format = options.pixelFormat(
            bitsPerComponent: info.bitsPerComponent, isHighDynamicRange: info.isHighDynamicRange)
        try context.limits.check(
            size: info.size, output: decoder.outputSize, frameCount: wanted, bytesPerPixel: format.bytesPerPixel)
        let (bytes, overflow) = PixelBufferPool.footprint(of: decoder.outputSize, format: format)
            .multipliedReportingOverflow(by: wanted)
        let reservation = try context.reserve(overflow ? .max : bytes)
        defer { withExtendedLifetime(reservation) {} }

        var frames: [ImageFrame] = []
        while frames.count < wanted {
            try context.checkCancellation()
            guard let frame = try decoder.nextFrame() else { break }
            frames.append(wanted == 1 ? ImageFrame(pixels: frame.pixels) : frame)
        }
        var properties = info.properties(options)
        if frames.count < 2 { properties.loopCount = 0 }
        properties.isPartial = frames.count < wanted
        guard !properties.isPartial || options.allowsPartialImage, !frames.isEmpty else {
            throw ImageError(
                .truncatedImage, stage: .decode, reason: "only \(frames.count) of \(wanted) frames are there")
        }
        guard let image = Image(frames: frames, properties: properties) else {
            throw ImageError(.corruptImage, stage: .decode, reason: "the frames have different sizes")
        }
        return image
    }
}
