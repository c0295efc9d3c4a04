/// Makes images by drawing them: backgrounds, badges, several pictures on one.
///
/// ```swift
/// let renderer = ImageRenderer(size: PixelSize(width: 200, height: 100), format: .init(scale: 2, isOpaque: true))
/// let image = try renderer.image { surface in
///     surface.fill(.white)
///     try surface.draw(photo, x: 10, y: 10, size: PixelSize(width: 80, height: 80))
/// }
/// ```
///
/// What is drawn with is a ``DrawingSurface``; there are no lines and no text. A renderer can be used again, from any thread.
public struct ImageRenderer: Sendable {
    /// What kind of image is made.
    public struct Format: Sendable, Hashable {
        /// Pixels per point of the image, at least 1. The size of a renderer is in pixels, whatever the scale.
        public var scale: Double
        /// Whether every pixel is opaque: drawing begins with black in place of transparency, and what is translucent in the
        /// end lies on black.
        public var isOpaque: Bool
        /// The precision, and the range: ``PixelFormat/rgbaFloat16`` holds colours brighter than white.
        public var pixelFormat: PixelFormat

        public init(scale: Double = 1, isOpaque: Bool = false, pixelFormat: PixelFormat = .rgba8) {
            self.scale = scale
            self.isOpaque = isOpaque
            self.pixelFormat = pixelFormat
        }
    }

    /// The size of the images in pixels.
    public var size: PixelSize
    public var format: Format

    public init(size: PixelSize, format: Format = Format()) {
        self.size = size
        self.format = format
    }

    /// The image that `draw` draws, on the calling thread.
    /// - Throws: what `draw` throws; ``ImageError/Code/limitExceeded`` for an empty size, and ``ImageError/Code/outOfMemory``.
    public func image(
        pool: PixelBufferPool = .shared, _ draw: (inout DrawingSurface) throws -> Void
    ) throws -> Image {
        var surface = try DrawingSurface(size: size, format: format, pool: pool)
        try draw(&surface)
        return surface.finish()
    }
}
