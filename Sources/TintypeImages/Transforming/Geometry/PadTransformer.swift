/// Adds pixels around an image.
struct PadTransformer: ImageTransformer {
    /// The distances that are added at the edges.
    struct Insets: Sendable, Hashable {
        var top: Int
        var left: Int
        var bottom: Int
        var right: Int
    }

    enum Extent: Sendable, Hashable {
        case insets(Insets)
        case size(PixelSize, ImageAnchor)
    }

    var extent: Extent
    var color: PixelColor

    var key: String {
        var key = TransformKey("pad")
        switch extent {
        case .insets(let insets):
            key = key.with("top", insets.top, default: 0).with("left", insets.left, default: 0)
                .with("bottom", insets.bottom, default: 0).with("right", insets.right, default: 0)
        case .size(let size, let anchor):
            key = key.with("size", text: size.description)
            if anchor != .center { key = key.with("anchor", text: anchor.keyPart) }
        }
        return key.with("color", color, default: .clear).description
    }

    func transform(_ image: Image) throws -> Image {
        let check = ParameterCheck("pad")
        try check.check("color", color)
        let context = ProcessingContext.current
        switch extent {
        case .insets(let insets):
            try check.check(distance: "top", insets.top)
            try check.check(distance: "left", insets.left)
            try check.check(distance: "bottom", insets.bottom)
            try check.check(distance: "right", insets.right)
            let size = PixelSize(
                width: image.size.width + insets.left + insets.right,
                height: image.size.height + insets.top + insets.bottom)
            return try Self.placing(image, on: size, x: insets.left, y: insets.top, color: color, context)
        case .size(let size, let anchor):
            try check.check(side: "width", size.width)
            try check.check(side: "height", size.height)
            try anchor.check("anchor", check)
            let canvas = PixelSize(
                width: max(size.width, image.size.width), height: max(size.height, image.size.height))
            let origin = anchor.origin(of: image.size, in: canvas)
            return try Self.placing(image, on: canvas, x: origin.x, y: origin.y, color: color, context)
        }
    }

    /// Returns a canvas of a uniform color with the image on it, whose pixels replace the color.
    static func placing(
        _ image: Image, on size: PixelSize, x: Int, y: Int, color: PixelColor, _ context: ProcessingContext
    ) throws(ImageError) -> Image {
        guard size != image.size else { return image }
        let format = image.pixels.format
        let target = try context.buffer(size, format: format)
        for row in 0..<size.height {
            let isOutside = row < y || row - y >= image.size.height
            let start = target.row(row)
            PixelBlending.fill(start, with: color, count: isOutside ? size.width : x, format: format)
            guard !isOutside else { continue }
            let right = x + image.size.width
            image.pixels.copy(
                row: row - y, from: 0, count: image.size.width, to: start + x * format.bytesPerPixel)
            PixelBlending.fill(
                start + right * format.bytesPerPixel, with: color, count: size.width - right, format: format)
        }
        return image.replacing(target.freeze(), hasAlpha: image.hasAlpha || color.alpha < 1)
    }
}

extension ImageTransformer where Self == ImageTransformers {
    /// A transformer that adds pixels at each edge.
    /// - Parameters:
    ///   - top: the pixels above the image, 0 or more.
    ///   - left: the pixels to the left of it.
    ///   - bottom: the pixels below it.
    ///   - right: the pixels to the right of it.
    ///   - color: the color of the new pixels.
    public static func pad(
        top: Int = 0, left: Int = 0, bottom: Int = 0, right: Int = 0, color: PixelColor = .clear
    ) -> ImageTransformers {
        let insets = PadTransformer.Insets(top: top, left: left, bottom: bottom, right: right)
        return ImageTransformers([PadTransformer(extent: .insets(insets), color: color)])
    }

    /// A transformer that adds pixels until an image has a given size. A longer side remains unchanged.
    /// - Parameters:
    ///   - width: the width in pixels.
    ///   - height: the height in pixels.
    ///   - anchor: the position of the image: `.topLeft` adds pixels to the right and below.
    ///   - color: the color of the new pixels.
    public static func pad(
        toWidth width: Int, height: Int, anchor: ImageAnchor = .center, color: PixelColor = .clear
    ) -> ImageTransformers {
        let size = PixelSize(width: width, height: height)
        return ImageTransformers([PadTransformer(extent: .size(size, anchor), color: color)])
    }
}

extension ImageTransformer {
    /// Returns a sequence that then adds pixels at each edge.
    /// - Parameters:
    ///   - top: the rows to add at the top.
    ///   - left: the columns to add on the left.
    ///   - bottom: the rows to add at the bottom.
    ///   - right: the columns to add on the right.
    ///   - color: the color of the new pixels.
    public func pad(
        top: Int = 0, left: Int = 0, bottom: Int = 0, right: Int = 0, color: PixelColor = .clear
    ) -> ImageTransformers {
        then(.pad(top: top, left: left, bottom: bottom, right: right, color: color))
    }

    /// Returns a sequence that then adds pixels until the result has a given size.
    /// - Parameters:
    ///   - width: the width, in pixels.
    ///   - height: the height, in pixels.
    ///   - anchor: the position of the result on the larger canvas.
    ///   - color: the color of the new pixels.
    public func pad(
        toWidth width: Int, height: Int, anchor: ImageAnchor = .center, color: PixelColor = .clear
    ) -> ImageTransformers {
        then(.pad(toWidth: width, height: height, anchor: anchor, color: color))
    }
}
