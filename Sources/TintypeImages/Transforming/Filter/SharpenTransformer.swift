/// Sharpens an image by an unsharp mask: its difference from a blurred copy is added to it.
struct SharpenTransformer: ImageTransformer {
    var amount: Double
    var radius: Double
    var threshold: Double

    var key: String {
        guard amount != 0, radius != 0 else { return TransformKey("sharpen").description }
        return TransformKey("sharpen").with("amount", amount).with("radius", radius)
            .with("threshold", threshold, default: 0).description
    }

    func transform(_ image: Image) throws -> Image {
        guard amount != 0, radius != 0 else { return image }
        let check = ParameterCheck("sharpen")
        try check.check("amount", amount, in: 0...100)
        try check.check("radius", radius, in: 0...BlurTransformer.largestRadius)
        try check.check("threshold", threshold, in: 0...1)
        let context = ProcessingContext.current
        let pixels = image.pixels
        // 16 bits, so that rounding is not amplified.
        let blurred = try GaussianBlur(sigma: radius, isLinear: false).blurred(
            pixels, format: pixels.format == .rgbaFloat16 ? .rgbaFloat16 : .rgba16, context)
        let scratch = try context.scratch(floats: pixels.width * 4)
        let floats = scratch.base.bindMemory(to: Float.self, capacity: pixels.width * 4)
        let soft = UnsafeRawPointer(floats).assumingMemoryBound(to: SIMD4<Float>.self)
        let (strength, limit) = (Float(amount), Float(threshold))
        let sharp = try pixels.mappingComponents(context) { row, y in
            blurred.unpackRow(y, to: floats)
            for x in row.indices {
                let difference = row[x] - soft[x]
                let isSmall = (difference .<= limit) .& (difference .>= -limit)
                var change = difference.replacing(with: 0, where: isSmall) * strength
                // Sharper edges of the shape would be rough.
                change.w = 0
                row[x] += change
            }
        }
        return image.replacing(sharp)
    }
}

extension ImageTransformer where Self == ImageTransformers {
    /// A transformer that sharpens an image with an unsharp mask.
    /// - Parameters:
    ///   - amount: the strength of the effect; 0 for none, 1 to double the contrast of fine details.
    ///   - radius: the standard deviation of the mask, in pixels.
    ///   - threshold: the smallest difference of a component to amplify, from 0 to 1, so that noise isn't amplified.
    public static func sharpen(amount: Double = 0.5, radius: Double = 1, threshold: Double = 0) -> ImageTransformers {
        ImageTransformers([SharpenTransformer(amount: amount, radius: radius, threshold: threshold)])
    }
}

extension ImageTransformer {
    /// Returns a sequence that then sharpens the result with an unsharp mask.
    /// - Parameters:
    ///   - amount: the strength; 0 changes nothing.
    ///   - radius: the standard deviation of the mask, in pixels.
    ///   - threshold: the smallest difference of a component to amplify, from 0 to 1.
    public func sharpen(amount: Double = 0.5, radius: Double = 1, threshold: Double = 0) -> ImageTransformers {
        then(.sharpen(amount: amount, radius: radius, threshold: threshold))
    }
}
