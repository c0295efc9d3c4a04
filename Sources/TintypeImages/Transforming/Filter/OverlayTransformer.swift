internal import CXXHash

/// Draws an image, such as a watermark, over another.
struct OverlayTransformer: ImageTransformer {
    let overlay: Image
    var anchor: ImageAnchor
    var offsetX: Int
    var offsetY: Int
    var width: Int?
    var opacity: Double
    var mode: BlendMode
    private let digest: String

    init(
        _ overlay: Image, anchor: ImageAnchor, offsetX: Int, offsetY: Int, width: Int?, opacity: Double,
        mode: BlendMode
    ) {
        self.overlay = overlay
        self.anchor = anchor
        self.offsetX = offsetX
        self.offsetY = offsetY
        self.width = width
        self.opacity = opacity
        self.mode = mode
        digest = overlay.pixels.digest
    }

    var key: String {
        var key = TransformKey("overlay").with("image", text: digest).with("x", offsetX, default: 0)
            .with("y", offsetY, default: 0).with("width", width).with("opacity", opacity, default: 1)
        if anchor != .center { key = key.with("anchor", text: anchor.keyPart) }
        if mode != .sourceOver { key = key.with("mode", text: mode.rawValue) }
        return key.description
    }

    func transform(_ image: Image) throws -> Image {
        let check = ParameterCheck("overlay")
        try check.check("opacity", opacity, in: 0...1)
        try check.check(side: "width", width)
        try check.check(distance: "offset", abs(max(offsetX, -Int.max)))
        try check.check(distance: "offset", abs(max(offsetY, -Int.max)))
        try anchor.check("anchor", check)
        let context = ProcessingContext.current
        let picture = try resized(context)
        let origin = anchor.origin(of: picture.size, in: image.size)
        let (left, top) = (origin.x + offsetX, origin.y + offsetY)
        let placed = PixelRect(x: left, y: top, width: picture.width, height: picture.height)
        guard let part = placed.clipped(to: image.size), opacity > 0 || !mode.ignoresClearSource else { return image }
        let scratch = try context.scratch(floats: picture.width * 4)
        let floats = scratch.base.bindMemory(to: Float.self, capacity: picture.width * 4)
        let row = UnsafeRawPointer(floats).assumingMemoryBound(to: SIMD4<Float>.self)
        let strength = Float(opacity)
        let rows = part.y..<part.y + part.height
        let pixels = try image.pixels.mappingComponents(context, where: { rows.contains($0) }) { target, y in
            picture.unpackRow(y - top, to: floats)
            for x in part.x..<part.x + part.width {
                let source = row[x - left]
                target[x] = mode.blend(source * strength, with: target[x])
            }
        }
        let isOpaque = !image.hasAlpha && mode.blend(SIMD4(0, 0, 0, 0.5), with: SIMD4(0, 0, 0, 1)).w == 1
        return image.replacing(pixels, hasAlpha: !isOpaque)
    }

    private func resized(_ context: ProcessingContext) throws(ImageError) -> PixelBuffer {
        guard let width, width != overlay.size.width else { return overlay.pixels }
        let box = PixelSize(width: width, height: ParameterCheck.longestSide)
        let size = overlay.size.scaled(into: box, upscaling: true)
        try context.check(size, format: overlay.pixels.format)
        return try overlay.pixels.resized(to: size, pool: context.pool)
    }
}

extension PixelBuffer {
    /// A hash of size, format and pixels that is the same in every process: XXH3 with 128 bits.
    fileprivate var digest: String {
        var rows: [UInt64] = []
        for y in 0..<height {
            let hash = withRow(y) { XXH3_128bits($0.baseAddress, $0.count) }
            rows += [hash.high64, hash.low64]
        }
        let hash = rows.withUnsafeBytes { XXH3_128bits($0.baseAddress, $0.count) }
        return "\(size):\(format.rawValue):" + String(hash.high64, radix: 16) + ":" + String(hash.low64, radix: 16)
    }
}

extension ImageTransformer where Self == ImageTransformers {
    /// A transformer that draws an image, such as a watermark, over another.
    ///
    /// The cache key contains a hash of the overlay's pixels.
    /// - Parameters:
    ///   - overlay: the image to draw, or the animation whose first frame is drawn.
    ///   - anchor: the position: this point of the overlay lies on the same point of the image.
    ///   - offsetX: the overlay's shift to the right, in pixels.
    ///   - offsetY: its shift downward, in pixels.
    ///   - width: its drawn width, with its proportions; `nil` for its own size.
    ///   - opacity: its opacity, from 0 to 1.
    ///   - mode: the blend mode, for the area that it covers.
    public static func overlay(
        _ overlay: Image, anchor: ImageAnchor = .center, offsetX: Int = 0, offsetY: Int = 0, width: Int? = nil,
        opacity: Double = 1, mode: BlendMode = .sourceOver
    ) -> ImageTransformers {
        ImageTransformers([
            OverlayTransformer(
                overlay, anchor: anchor, offsetX: offsetX, offsetY: offsetY, width: width, opacity: opacity,
                mode: mode)
        ])
    }
}

extension ImageTransformer {
    /// Returns a sequence that then draws an image, such as a watermark, over the result.
    /// - Parameters:
    ///   - overlay: the image to draw.
    ///   - anchor: the position: this point of the overlay lies on the same point of the image.
    ///   - offsetX: the overlay's shift to the right, in pixels.
    ///   - offsetY: the overlay's shift downward, in pixels.
    ///   - width: the overlay's drawn width, in pixels; `nil` for its own.
    ///   - opacity: the opacity of the overlay, from 0 to 1.
    ///   - mode: the blend mode.
    public func overlay(
        _ overlay: Image, anchor: ImageAnchor = .center, offsetX: Int = 0, offsetY: Int = 0, width: Int? = nil,
        opacity: Double = 1, mode: BlendMode = .sourceOver
    ) -> ImageTransformers {
        then(
            .overlay(
                overlay, anchor: anchor, offsetX: offsetX, offsetY: offsetY, width: width, opacity: opacity,
                mode: mode))
    }
}
