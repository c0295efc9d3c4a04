/// A transformer whose result keeps only what its pixels need to be shown.
struct TransformerWithoutMetadata: ImageTransformer {
    let base: any ImageTransformer

    /// Empty like that of the transformer, which is an error.
    var key: String { base.hasEmptyKey ? "" : "withoutMetadata(\(base.key))" }
    var preservesMetadata: Bool { false }
    var suggestedDecodeSize: PixelSize? { base.suggestedDecodeSize }

    func transform(_ image: Image) throws -> Image {
        let result = try image.applying(base)
        let source = result.properties
        var properties = Image.Properties()
        properties.scale = source.scale
        properties.loopCount = source.loopCount
        properties.colorSpace = source.colorSpace
        properties.bitsPerComponent = source.bitsPerComponent
        properties.isHighDynamicRange = source.isHighDynamicRange
        properties.hasAlpha = source.hasAlpha
        properties.isPartial = source.isPartial
        return Image(pixels: result.pixels, properties: properties)
    }
}
