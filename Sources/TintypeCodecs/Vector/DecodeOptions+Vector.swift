#if SVG || PDF
internal import TintypeImages

extension DecodeOptions {
    /// Returns the size of the drawing of a picture without pixels of its own: a box is filled upwards too.
    func vectorSize(for size: PixelSize) -> PixelSize {
        var options = self
        options.allowsUpscaling = true
        return options.outputSize(for: size)
    }

    /// Returns the size of the drawing of a picture whose sides aren't whole: if it is a fraction of a pixel wide, a box still shows the
    /// shape.
    func vectorSize(width: Double, height: Double) -> PixelSize {
        let size = CairoCanvas.pixels(width, height)
        guard let box = thumbnailSize, !box.isEmpty, preservesAspectRatio, !coversThumbnailSize, !size.isEmpty else {
            return vectorSize(for: size)
        }
        // A power of two, so that whole sides keep their ratio exactly.
        var unit = 1.0
        while min(width, height) * unit < 4_096, max(width, height) * unit < 1e15 { unit *= 2 }
        let fine = PixelSize(
            width: Int((width * unit).rounded(.up)), height: Int((height * unit).rounded(.up)))
        var options = self
        options.thumbnailSize = fine.scaled(into: box, upscaling: true)
        options.preservesAspectRatio = false
        return options.vectorSize(for: size)
    }
}
#endif
