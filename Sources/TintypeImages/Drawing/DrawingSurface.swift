extension Image {
    /// Creates an image by drawing, on the calling thread: backgrounds, badges, or a combination of several images.
    ///
    /// ```swift
    /// let image = try Image(size: PixelSize(width: 200, height: 100), scale: 2, isOpaque: true) { surface in
    ///     surface.fill(.white)
    ///     try surface.draw(photo, x: 10, y: 10, size: PixelSize(width: 80, height: 80))
    /// }
    /// ```
    ///
    /// A ``DrawingSurface`` supports neither lines nor text.
    /// - Parameters:
    ///   - size: the size in pixels, regardless of the scale.
    ///   - scale: the number of pixels per point of the image, at least 1.
    ///   - isOpaque: true to make every pixel opaque: drawing starts with black instead of transparency, and translucent pixels are blended
    ///     with black at the end.
    ///   - pixelFormat: the precision and the range of the pixels. ``PixelFormat/rgbaFloat16`` can represent colors brighter than white.
    ///   - draw: draws on the surface.
    /// - Throws: the errors of `draw`; ``ImageError/Code/limitExceeded`` for an empty size, and ``ImageError/Code/outOfMemory``.
    public init(
        size: PixelSize, scale: Double = 1, isOpaque: Bool = false, pixelFormat: PixelFormat = .rgba8,
        draw: (inout DrawingSurface) throws -> Void
    ) throws {
        var surface = try DrawingSurface(size: size, scale: scale, isOpaque: isOpaque, pixelFormat: pixelFormat)
        try draw(&surface)
        self = surface.finish()
    }
}

/// A canvas of pixels, which becomes an image: see ``Image/init(size:scale:isOpaque:pixelFormat:draw:)``.
///
/// ```swift
/// let image = try Image(size: PixelSize(width: 64, height: 64)) { surface in
///     surface.fill(PixelColor(red: 1, green: 0.5, blue: 0))
///     surface[0, 0] = SIMD4(255, 255, 255, 255)  // premultiplied RGBA
/// }
/// ```
///
/// Colors are in sRGB, or in its extended range with ``PixelFormat/rgbaFloat16`` (``ColorSpace/extendedSRGB``). Positions are
/// in pixels from the upper left corner. Drawing is clipped to the surface.
public struct DrawingSurface: ~Copyable {
    private let scale: Double
    private let isOpaque: Bool
    private let pixelFormat: PixelFormat
    private var pixels: MutablePixelBuffer
    private let pool: PixelBufferPool

    /// Creates a transparent surface, or a black surface if it is opaque.
    fileprivate init(size: PixelSize, scale: Double, isOpaque: Bool, pixelFormat: PixelFormat) throws(ImageError) {
        self.scale = scale
        self.isOpaque = isOpaque
        self.pixelFormat = pixelFormat
        pool = ProcessingContext.current.pool
        pixels = try MutablePixelBuffer(size: size, format: pixelFormat, cleared: true, pool: pool)
        if isOpaque { makeOpaque() }
    }

    /// The size in pixels.
    public var size: PixelSize { pixels.size }

    // MARK: Rows and pixels

    /// Gives access to the pixels of a row, counted from the top: premultiplied RGBA in the surface's format.
    /// - Parameters:
    ///   - row: the row, counted from 0 at the top.
    ///   - body: a closure that changes the bytes. The pointer is valid only during the call.
    /// - Throws: the error of the closure.
    public mutating func withRow<Result, Failure: Error>(
        _ row: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(
            UnsafeMutableRawBufferPointer(
                start: pixels.row(row), count: size.width * pixelFormat.bytesPerPixel))
    }

    /// Accesses a premultiplied pixel of an 8-bit surface.
    /// - Parameters:
    ///   - x: the column, counted from 0 on the left.
    ///   - y: the row, counted from 0 at the top.
    public subscript(x: Int, y: Int) -> SIMD4<UInt8> {
        get { address(x, y).loadUnaligned(as: SIMD4<UInt8>.self) }
        set { address(x, y).storeBytes(of: newValue, as: SIMD4<UInt8>.self) }
    }

    private func address(_ x: Int, _ y: Int) -> UnsafeMutableRawPointer {
        precondition(
            pixelFormat == .rgba8 && x >= 0 && x < size.width,
            "column \(x) of \(size.width), \(pixelFormat)")
        return pixels.row(y) + x * 4
    }

    // MARK: Drawing

    /// Draws a color over the surface, or over a part of it.
    /// - Parameters:
    ///   - color: the color, which is blended with the existing pixels.
    ///   - x: the left edge of the part.
    ///   - y: the upper edge of the part.
    ///   - area: the size of the part; `nil` for everything from its corner to the right and below.
    public mutating func fill(_ color: PixelColor, x: Int = 0, y: Int = 0, size area: PixelSize? = nil) {
        paint(color, x: x, y: y, size: area, blends: true)
    }

    /// Replaces the pixels of the surface, or of a part of it, with a color.
    /// - Parameters:
    ///   - color: the new color.
    ///   - x: the left edge of the part.
    ///   - y: the upper edge of the part.
    ///   - area: the size of the part; `nil` for everything from its corner to the right and below.
    public mutating func replace(with color: PixelColor = .clear, x: Int = 0, y: Int = 0, size area: PixelSize? = nil) {
        paint(color, x: x, y: y, size: area, blends: false)
    }

    private mutating func paint(_ color: PixelColor, x: Int, y: Int, size area: PixelSize?, blends: Bool) {
        let area = area ?? PixelSize(width: .max, height: .max)
        guard let part = Overlap(of: area, x: x, y: y, on: size) else { return }
        let bytes = part.width * pixelFormat.bytesPerPixel
        withUnsafeTemporaryAllocation(byteCount: bytes, alignment: 16) { row in
            guard let source = row.baseAddress else { return }
            PixelBlending.fill(source, with: color, count: part.width, format: pixelFormat)
            for line in 0..<part.height {
                let target = pixels.row(part.y + line) + part.x * pixelFormat.bytesPerPixel
                // An alpha that is not a number counts as 0, and would replace the pixels by nothing.
                if blends, !(color.alpha >= 1) {
                    PixelBlending.blend(source, over: target, count: part.width, format: pixelFormat)
                } else {
                    target.copyMemory(from: source, byteCount: bytes)
                }
            }
        }
    }

    /// Draws an image, or the first frame of an animation, over the surface.
    ///
    /// The image must be in the surface's color space. This is true for all images except those decoded with
    /// ``DecodeOptions/keepsColorSpace``.
    /// - Parameters:
    ///   - image: the image to draw.
    ///   - x: the left edge of the image on the surface.
    ///   - y: the upper edge of the image on the surface.
    ///   - area: the drawn size, in pixels; `nil` for its own size.
    /// - Throws: ``ImageError/Code/outOfMemory``.
    public mutating func draw(
        _ image: Image, x: Int = 0, y: Int = 0, size area: PixelSize? = nil
    ) throws(ImageError) {
        let area = area ?? image.size
        guard let part = Overlap(of: area, x: x, y: y, on: size) else { return }
        var (left, top) = (part.x - x, part.y - y)
        var picture = image.pixels
        if area != image.size {
            // Only the part on the surface is made.
            let visible = ResampledPart(columns: left..<left + part.width, rows: top..<top + part.height)
            picture = try picture.resized(to: area, part: visible, pool: pool)
            (left, top) = (0, 0)
        }
        picture = try picture.converted(to: pixelFormat, pool: pool)
        for line in 0..<part.height {
            let target = pixels.row(part.y + line) + part.x * pixelFormat.bytesPerPixel
            picture.withRow(top + line) { row in
                guard let source = row.baseAddress else { return }
                PixelBlending.blend(
                    source + left * pixelFormat.bytesPerPixel, over: target, count: part.width, format: pixelFormat)
            }
        }
    }

    // MARK: Finishing

    /// Returns the image of the surface, without copying its pixels.
    fileprivate consuming func finish() -> Image {
        if isOpaque { makeOpaque() }
        var properties = Image.Properties()
        properties.scale = scale
        properties.hasAlpha = !isOpaque
        properties.bitsPerComponent = pixelFormat.bitsPerComponent
        if pixelFormat == .rgbaFloat16 {
            properties.colorSpace = .extendedSRGB
            properties.isHighDynamicRange = true
        }
        return Image(pixels: pixels.freeze(), properties: properties)
    }

    /// Makes all pixels opaque, on a black background. Premultiplied colors are already correct for it.
    private mutating func makeOpaque() {
        for y in 0..<size.height {
            PixelBlending.makeOpaque(pixels.row(y), count: size.width, format: pixelFormat)
        }
    }
}

/// The part of an area that lies on a surface, with its corner and size.
private struct Overlap {
    var x: Int
    var y: Int
    var width: Int
    var height: Int

    init?(of area: PixelSize, x: Int, y: Int, on surface: PixelSize) {
        let (right, overflowsRight) = x.addingReportingOverflow(max(0, area.width))
        let (bottom, overflowsBottom) = y.addingReportingOverflow(max(0, area.height))
        self.x = max(0, x)
        self.y = max(0, y)
        width = min(surface.width, overflowsRight ? .max : right) - self.x
        height = min(surface.height, overflowsBottom ? .max : bottom) - self.y
        guard self.x < surface.width, self.y < surface.height, width > 0, height > 0 else { return nil }
    }
}
