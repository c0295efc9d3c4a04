/// Keeps a part of an image.
struct CropTransformer: ImageTransformer {
    enum Area: Sendable, Hashable {
        case rect(PixelRect)
        case size(PixelSize, CropPosition)
        case aspectRatio(Double, CropPosition)
    }

    var area: Area

    var key: String {
        let key = TransformKey("crop")
        func placed(_ key: TransformKey, _ position: CropPosition) -> String {
            position == .anchor(.center) ? key.description : key.with("position", text: position.keyPart).description
        }
        switch area {
        case .rect(let rect): return key.with("rect", text: rect.description).description
        case .size(let size, let position): return placed(key.with("size", text: size.description), position)
        case .aspectRatio(let ratio, let position): return placed(key.with("aspectRatio", ratio), position)
        }
    }

    func transform(_ image: Image) throws -> Image {
        let context = ProcessingContext.current
        return image.replacing(try image.pixels.cropped(to: part(of: image.pixels, context), context))
    }

    private func part(of pixels: PixelBuffer, _ context: ProcessingContext) throws(ImageError) -> PixelRect {
        let check = ParameterCheck("crop")
        let bounds = pixels.size
        switch area {
        case .rect(let rect):
            guard !rect.isEmpty else { throw check.error("rectangle", rect, "at least 1 pixel wide and high") }
            guard let part = rect.clipped(to: bounds) else {
                throw check.error("rectangle", rect, "inside the image, which has \(bounds) pixels")
            }
            return part
        case .size(let size, let position):
            try check.check(side: "width", size.width)
            try check.check(side: "height", size.height)
            try position.check(check)
            let part = PixelSize(width: min(size.width, bounds.width), height: min(size.height, bounds.height))
            return try position.part(part, of: bounds, showing: pixels, context)
        case .aspectRatio(let ratio, let position):
            try check.check("aspect ratio", positive: ratio)
            try position.check(check)
            let width = Double(bounds.height) * ratio
            let height = Double(bounds.width) / ratio
            var part = bounds
            if width < Double(bounds.width) {
                part.width = max(1, Int(width.rounded()))
            } else {
                part.height = max(1, Int(min(height, Double(bounds.height)).rounded()))
            }
            return try position.part(part, of: bounds, showing: pixels, context)
        }
    }
}

extension ImageTransformer where Self == ImageTransformers {
    /// A transformer that keeps a part of an image.
    /// - Parameter rect: the part. It is clipped to the image; a load fails with ``ImageError/Code/transformFailed`` if nothing remains.
    public static func crop(_ rect: PixelRect) -> ImageTransformers {
        ImageTransformers([CropTransformer(area: .rect(rect))])
    }

    /// A transformer that keeps a part of a given size.
    ///
    /// With ``CropPosition/smart``, the part is the area with the most edges, saturated colors and skin tones, slightly preferring the
    /// center. The content is analyzed at a size of 96 pixels. Don't apply it to animations: each frame would be cropped around its own
    /// content, so that the picture jumps.
    ///
    /// ```swift
    /// let banner = try image.transformed(.crop(width: 60, height: 20, position: .smart))
    /// ```
    /// - Parameters:
    ///   - width: the width in pixels. A smaller image keeps its width.
    ///   - height: the height in pixels. A smaller image keeps its height.
    ///   - position: the position of the part.
    public static func crop(width: Int, height: Int, position: CropPosition = .anchor(.center)) -> ImageTransformers {
        ImageTransformers([CropTransformer(area: .size(PixelSize(width: width, height: height), position))])
    }

    /// A transformer that keeps the largest part with given proportions.
    /// - Parameters:
    ///   - aspectRatio: the width divided by the height, such as `16.0 / 9`.
    ///   - position: the position of the part.
    public static func crop(aspectRatio: Double, position: CropPosition = .anchor(.center)) -> ImageTransformers {
        ImageTransformers([CropTransformer(area: .aspectRatio(aspectRatio, position))])
    }
}

extension ImageTransformer {
    /// Returns a sequence that then keeps a part of the result.
    /// - Parameter rect: the part that remains.
    public func crop(_ rect: PixelRect) -> ImageTransformers { then(.crop(rect)) }

    /// Returns a sequence that then keeps a part of a given size.
    /// - Parameters:
    ///   - width: the width, in pixels.
    ///   - height: the height, in pixels.
    ///   - position: the position of the part that remains.
    public func crop(width: Int, height: Int, position: CropPosition = .anchor(.center)) -> ImageTransformers {
        then(.crop(width: width, height: height, position: position))
    }

    /// Returns a sequence that then keeps the largest part with given proportions, width divided by height.
    /// - Parameters:
    ///   - aspectRatio: the width divided by the height.
    ///   - position: the position of the part that remains.
    public func crop(aspectRatio: Double, position: CropPosition = .anchor(.center)) -> ImageTransformers {
        then(.crop(aspectRatio: aspectRatio, position: position))
    }
}
