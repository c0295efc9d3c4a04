#if SVG || PDF
internal import TintypeCore

extension DecodeOptions {
    /// The size at which a picture without pixels of its own is drawn: a box is filled upwards too.
    func vectorSize(for size: PixelSize) -> PixelSize {
        var options = self
        options.allowsUpscaling = true
        return options.outputSize(for: size)
    }
}
#endif
