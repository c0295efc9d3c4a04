extension Image {
    /// Returns a still image of the same source, with other pixels.
    /// - Parameters:
    ///   - pixels: the new pixels.
    ///   - hasAlpha: false if every pixel is known to be opaque; `nil` if that is as before.
    func replacing(_ pixels: PixelBuffer, hasAlpha: Bool? = nil) -> Image {
        var properties = properties
        if let hasAlpha { properties.hasAlpha = hasAlpha }
        return Image(pixels: pixels, properties: properties)
    }
}
