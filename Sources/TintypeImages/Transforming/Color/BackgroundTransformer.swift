/// Draws an image over a color.
struct BackgroundTransformer: ImageTransformer {
    var color: PixelColor

    var key: String { TransformKey("background").with("color", color).description }

    func transform(_ image: Image) throws -> Image {
        try ParameterCheck("background").check("color", color)
        guard image.hasAlpha else { return image }
        let background = color.premultiplied(for: image.pixels.format)
        let pixels = try image.pixels.mappingComponents(ProcessingContext.current) { row, _ in
            for x in row.indices where row[x].w < 1 { row[x] += background * (1 - row[x].w) }
        }
        return image.replacing(pixels, hasAlpha: color.alpha < 1)
    }
}

extension ImageTransformer where Self == ImageTransformers {
    /// A transformer that draws an image over a color, for example before it is written as a JPEG.
    /// - Parameter color: the color behind the image.
    public static func background(_ color: PixelColor) -> ImageTransformers {
        ImageTransformers([BackgroundTransformer(color: color)])
    }
}

extension ImageTransformer {
    /// Returns a sequence that then draws the result over a color.
    /// - Parameter color: the color behind the result.
    public func background(_ color: PixelColor) -> ImageTransformers { then(.background(color)) }
}
