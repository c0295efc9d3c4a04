extension ImageInfo {
    /// Returns the properties of an image that is decoded from a source with this header.
    package func properties(_ options: DecodeOptions) -> Image.Properties {
        var properties = Image.Properties()
        properties.format = format
        properties.scale = options.scale ?? 1
        properties.loopCount = isAnimated ? loopCount ?? 0 : 0
        properties.bitsPerComponent = bitsPerComponent
        properties.hasAlpha = hasAlpha
        properties.sourceSize = displaySize
        properties.sourceOrientation = orientation
        properties.metadata = metadata
        properties.decodeOptions = options
        properties.isHighDynamicRange = isHighDynamicRange && options.decodeToHDR
        return properties
    }
}
