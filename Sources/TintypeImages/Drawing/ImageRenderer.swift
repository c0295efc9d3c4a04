/// Creates images by drawing, such as backgrounds, badges, or a combination of several images.
///
/// ```swift
/// let renderer = ImageRenderer(size: PixelSize(width: 200, height: 100), format: .init(scale: 2, isOpaque: true))
/// let image = try renderer.image { surface in
///     surface.fill(.white)
///     try surface.draw(photo, x: 10, y: 10, size: PixelSize(width: 80, height: 80))
/// }
/// ```
///
/// The closure draws on a ``DrawingSurface``, which supports neither lines nor text. A renderer can be used several times, from
/// any thread.
public struct ImageRenderer: Sendable {
    /// The kind of image that a renderer creates.
    public struct Format: Sendable, Hashable {
        /// The number of pixels per point of the image, at least 1. The size of a renderer is in pixels at every scale.
        public var scale: Double
        /// True if every pixel is opaque: drawing starts with black instead of transparency, and translucent pixels are finally
        /// blended with black.
        public var isOpaque: Bool
        /// The precision and the range of the pixels. ``PixelFormat/rgbaFloat16`` can represent colors brighter than white.
        public var pixelFormat: PixelFormat

        /// Creates a format. Each parameter sets the property of the same name.
        public init(scale: Double = 1, isOpaque: Bool = false, pixelFormat: PixelFormat = .rgba8) {
            self.scale = scale
            self.isOpaque = isOpaque
            self.pixelFormat = pixelFormat
        }
    }

    /// The size of the images, in pixels.
    public var size: PixelSize
    /// The kind of the images.
    public var format: Format

    /// Creates a renderer. Each parameter sets the property of the same name.
    public init(size: PixelSize, format: Format = Format()) {
        self.size = size
        self.format = format
    }

    /// Returns the image that a closure draws, on the calling thread.
    /// - Parameters:
    ///   - pool: the memory for the pixels.
    ///   - draw: draws on the surface.
    /// - Returns: the image.
    /// - Throws: the errors of `draw`; ``ImageError/Code/limitExceeded`` for an empty size, and
    ///   ``ImageError/Code/outOfMemory``.
    public func image(
        pool: PixelBufferPool = .shared, _ draw: (inout DrawingSurface) throws -> Void
    ) throws -> Image {
        var surface = try DrawingSurface(size: size, format: format, pool: pool)
        try draw(&surface)
        return surface.finish()
    }
}
