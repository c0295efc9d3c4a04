/// The way to fit an image into the width and height of `resize(width:height:mode:position:upscales:inLinearLight:)`.
public enum ResizeMode: String, Sendable, Hashable, CaseIterable {
    /// Stretches the image to exactly the given size.
    case fill
    /// Preserves the proportions. The image fits into the given size; one side may be shorter.
    case aspectFit
    /// Preserves the proportions and fills exactly the given size. The position determines the part that remains.
    case aspectFill
    /// Preserves the proportions. The image fits into the given size, and transparent bars fill the rest.
    case letterbox
}

/// Resizes an image.
struct ResizeTransformer: ImageTransformer {
    var width: Int?
    var height: Int?
    var mode = ResizeMode.aspectFit
    var position = CropPosition.anchor(.center)
    var upscales = true
    var isLinear = false

    var key: String {
        // With a single side, all modes do the same work.
        let mode = width != nil && height != nil ? mode : .aspectFit
        var key = TransformKey("resize").with("width", width).with("height", height)
        if mode != .aspectFit { key = key.with("mode", text: mode.rawValue) }
        if isPlaced, position != .anchor(.center) { key = key.with("position", text: position.keyPart) }
        return key.with("noUpscaling", if: !upscales).with("linear", if: isLinear).description
    }

    /// True if something is cropped or filled, so that the position matters.
    private var isPlaced: Bool { width != nil && height != nil && (mode == .aspectFill || mode == .letterbox) }

    var suggestedDecodeSize: PixelSize? {
        // Decoders shrink in gamma-encoded components, and stretch nothing.
        guard !isLinear, (try? check()) != nil else { return nil }
        // A side that isn't given follows the other.
        return PixelSize(width: width.map { $0 * 2 } ?? 1, height: height.map { $0 * 2 } ?? 1)
    }

    private func check() throws(ImageError) {
        let check = ParameterCheck("resize")
        guard width != nil || height != nil else {
            throw check.error("width", "nil", "given if there is no height")
        }
        try check.check(side: "width", width)
        try check.check(side: "height", height)
        if isPlaced { try position.check(check) }
    }

    func transform(_ image: Image) throws -> Image {
        try check()
        let context = ProcessingContext.current
        let source = image.size
        guard let width, let height else { return try resized(image, to: fittingSize(of: image), context) }
        let size = PixelSize(width: width, height: height)
        switch mode {
        case .fill:
            let limited = PixelSize(width: min(width, source.width), height: min(height, source.height))
            return try resized(image, to: upscales ? size : limited, context)
        case .aspectFit: return try resized(image, to: fittingSize(of: image), context)
        case .aspectFill: return try filling(image, size, context)
        case .letterbox:
            try context.check(size, format: image.pixels.format)
            let fitting = try resized(image, to: fittingSize(of: image), context)
            guard fitting.size != size else { return fitting }
            let part = try letterboxOrigin(of: fitting.size, in: size)
            return try PadTransformer.placing(fitting, on: size, x: part.x, y: part.y, color: .clear, context)
        }
    }

    /// Returns the proportional size inside the width and height.
    private func fittingSize(of image: Image) -> PixelSize {
        let box = PixelSize(
            width: width ?? ParameterCheck.longestSide, height: height ?? ParameterCheck.longestSide)
        let fitting = image.proportions.scaled(into: box, upscaling: true)
        guard !upscales, fitting.width > image.size.width || fitting.height > image.size.height else { return fitting }
        return image.size
    }

    /// Returns the image at a size that covers the requested size, cropped to it.
    private func filling(_ image: Image, _ size: PixelSize, _ context: ProcessingContext) throws(ImageError) -> Image {
        try context.check(size, format: image.pixels.format)
        var canvas = Self.covering(size, proportions: image.proportions)
        if !upscales, canvas.width > image.size.width || canvas.height > image.size.height { canvas = image.size }
        // A thousandth of a narrow image would be a canvas that is far larger than the result.
        guard max(canvas.width, canvas.height) <= ParameterCheck.longestSide else {
            throw ImageError(
                .limitExceeded, stage: .transform,
                reason:
                    "filling \(size) pixels would enlarge the image from \(image.size) to \(canvas), over the limit of "
                    + "\(ParameterCheck.longestSide) pixels per side")
        }
        let shown = PixelSize(width: min(size.width, canvas.width), height: min(size.height, canvas.height))
        let part = try position.part(shown, of: canvas, showing: image.pixels, context)
        return try resized(image, to: canvas, part: part, context)
    }

    /// Returns the smallest proportional size that covers a size, rounded to the nearest pixel.
    static func covering(_ size: PixelSize, proportions: PixelSize) -> PixelSize {
        let (width, height) = (Double(proportions.width), Double(proportions.height))
        let scale = max(Double(size.width) / width, Double(size.height) / height)
        return PixelSize(
            width: max(size.width, Int(min((width * scale).rounded(), 1e15))),
            height: max(size.height, Int(min((height * scale).rounded(), 1e15))))
    }

    private func letterboxOrigin(of area: PixelSize, in canvas: PixelSize) throws(ImageError) -> (x: Int, y: Int) {
        switch position {
        case .anchor(let anchor), .focus(let anchor): anchor.origin(of: area, in: canvas)
        case .smart: ImageAnchor.center.origin(of: area, in: canvas)
        }
    }

    private func resized(
        _ image: Image, to size: PixelSize, part: PixelRect? = nil, _ context: ProcessingContext
    ) throws(ImageError) -> Image {
        let part = part ?? PixelRect(size)
        if size == image.size {
            return part == PixelRect(size) ? image : image.replacing(try image.pixels.cropped(to: part, context))
        }
        try context.check(part.size, format: image.pixels.format)
        let shown = ResampledPart(
            columns: part.x..<part.x + part.width, rows: part.y..<part.y + part.height)
        guard !isLinear else {
            return image.replacing(try LinearLight.resized(image.pixels, to: size, part: shown, context))
        }
        return image.replacing(
            try image.pixels.resized(to: size, part: shown, pool: context.pool) { row throws(ImageError) in
                try context.checkCancellation(row: row)
            })
    }
}

extension Image {
    /// The size whose proportions the image has: its source's size if the image is scaled down from it, with rounded sides.
    fileprivate var proportions: PixelSize {
        guard !isTransformed, let source = sourceSize, size.isSmaller(than: source) else { return size }
        // Both are proportional if scaling either to a side of the other differs by at most a pixel.
        let difference = Double(size.width) * Double(source.height) - Double(size.height) * Double(source.width)
        return abs(difference) <= Double(max(source.width, source.height)) ? source : size
    }
}

extension ImageTransformer where Self == ImageTransformers {
    /// A transformer that resizes an image with a Lanczos filter.
    ///
    /// If `resize` is the first transformer, the load decodes the image at twice the size or more, not at its full size.
    ///
    /// ```swift
    /// request.transformer = .resize(width: 200, height: 200, mode: .aspectFill)
    /// ```
    /// - Parameters:
    ///   - width: the width in pixels; `nil` to follow the height proportionally.
    ///   - height: the height in pixels; `nil` to follow the width proportionally.
    ///   - mode: the way to fit the image into the size.
    ///   - position: the part that ``ResizeMode/aspectFill`` keeps, or the position of the image in a ``ResizeMode/letterbox``.
    ///   - upscales: true to enlarge small images. If false, an image that is too small keeps its size, except for the parts that
    ///     `aspectFill` crops.
    ///   - inLinearLight: true to average light instead of encoded values, so that fine bright details keep their brightness. It takes
    ///     several times as long.
    public static func resize(
        width: Int? = nil, height: Int? = nil, mode: ResizeMode = .aspectFit, position: CropPosition = .anchor(.center),
        upscales: Bool = true, inLinearLight: Bool = false
    ) -> ImageTransformers {
        ImageTransformers([
            ResizeTransformer(
                width: width, height: height, mode: mode, position: position, upscales: upscales,
                isLinear: inLinearLight)
        ])
    }
}

extension ImageTransformer {
    /// Returns a sequence that also resizes the result, with a Lanczos filter.
    /// - Parameters:
    ///   - width: the width in pixels; `nil` to follow the height proportionally.
    ///   - height: the height in pixels; `nil` to follow the width proportionally.
    ///   - mode: the way to fit the image into the size.
    ///   - position: the part that ``ResizeMode/aspectFill`` keeps.
    ///   - upscales: true to enlarge small images.
    ///   - inLinearLight: true to average light instead of encoded values.
    public func resize(
        width: Int? = nil, height: Int? = nil, mode: ResizeMode = .aspectFit, position: CropPosition = .anchor(.center),
        upscales: Bool = true, inLinearLight: Bool = false
    ) -> ImageTransformers {
        then(
            .resize(
                width: width, height: height, mode: mode, position: position, upscales: upscales,
                inLinearLight: inLinearLight))
    }
}
