/// Rounds the corners of an image, and draws a border inside its edges.
struct RoundedTransformer: ImageTransformer {
    var radius: Double
    var corners: ImageCorners
    var borderWidth: Double
    var borderColor: PixelColor

    var key: String {
        // Without corners, the radius makes no difference; without a border, its color.
        let isRound = radius != 0 && !corners.isEmpty
        var key = TransformKey("rounded").with("radius", isRound ? radius : 0)
        if isRound, corners.intersection(.all) != .all {
            key = key.with("corners", Int(corners.intersection(.all).rawValue))
        }
        if borderWidth != 0, borderColor.alpha != 0 {
            key = key.with("border", borderWidth).with("color", borderColor)
        }
        return key.description
    }

    func transform(_ image: Image) throws -> Image {
        let check = ParameterCheck("rounded")
        if !corners.isEmpty { try check.check("radius", radius, in: 0 ... .greatestFiniteMagnitude) }
        return try Self.rounded(
            image, radius: radius, corners: corners, borderWidth: borderWidth, borderColor: borderColor, check)
    }

    static func rounded(
        _ image: Image, radius: Double, corners: ImageCorners, borderWidth: Double, borderColor: PixelColor,
        _ check: ParameterCheck
    ) throws(ImageError) -> Image {
        // What makes no difference isn't part of the key.
        if borderWidth != 0, borderColor.alpha != 0 {
            try check.check("border width", borderWidth, in: 0 ... .greatestFiniteMagnitude)
            try check.check("border color", borderColor)
        }
        let context = ProcessingContext.current
        let (size, width) = (image.size, image.size.width)
        let corners = corners.intersection(.all)
        let radius = corners.isEmpty ? 0 : radius
        let outer = RoundedRect(size, radius: radius, corners: corners)
        let limited = min(radius, Double(min(size.width, size.height)) / 2)
        let hasBorder = borderWidth > 0 && borderColor.alpha > 0
        let inner = RoundedRect(size, inset: borderWidth, radius: limited - borderWidth, corners: corners)
        let color = borderColor.premultiplied(for: image.pixels.format)
        let scratch = try context.scratch(floats: width * 2)
        let outerCoverage = scratch.base.bindMemory(to: Float.self, capacity: width * 2)
        let innerCoverage = outerCoverage + width
        let isChanged = { (y: Int) in hasBorder || !outer.isStraight(y) }
        let pixels = try image.pixels.mappingComponents(context, where: isChanged) { row, y in
            outer.coverage(of: outerCoverage, y: y, width: width)
            if hasBorder { inner.coverage(of: innerCoverage, y: y, width: width) }
            for x in 0..<width {
                let shape = min(1, outerCoverage[x])
                guard hasBorder else {
                    if shape < 1 { row[x] *= shape }
                    continue
                }
                let border = max(0, shape - innerCoverage[x])
                if shape < 1 || border > 0 { row[x] = row[x] * (shape - border * color.w) + color * border }
            }
        }
        return image.replacing(pixels, hasAlpha: image.hasAlpha || radius > 0)
    }
}

/// Crops the center of an image to a circle.
struct CircleTransformer: ImageTransformer {
    var borderWidth: Double
    var borderColor: PixelColor

    var key: String {
        guard borderWidth != 0, borderColor.alpha != 0 else { return TransformKey("circle").description }
        return TransformKey("circle").with("border", borderWidth).with("color", borderColor).description
    }

    func transform(_ image: Image) throws -> Image {
        let side = min(image.size.width, image.size.height)
        let origin = ImageAnchor.center.origin(of: PixelSize(width: side, height: side), in: image.size)
        let square = PixelRect(x: origin.x, y: origin.y, width: side, height: side)
        let cropped = image.replacing(try image.pixels.cropped(to: square, ProcessingContext.current))
        return try RoundedTransformer.rounded(
            cropped, radius: Double(side) / 2, corners: .all, borderWidth: borderWidth, borderColor: borderColor,
            ParameterCheck("circle"))
    }
}

extension ImageTransformer where Self == ImageTransformers {
    /// A transformer that rounds the corners of an image, with smooth edges, and draws a border inside its edges.
    ///
    /// ```swift
    /// let card = try image.transformed(.rounded(radius: 12, corners: [.topLeft, .topRight]))
    /// ```
    /// - Parameters:
    ///   - radius: the radius in pixels, limited to half the shorter side.
    ///   - corners: the corners to round.
    ///   - borderWidth: the width of the border in pixels; 0 for none. A border as wide as half the shorter side covers
    ///     everything.
    ///   - borderColor: the color of the border. The image shows through a translucent border.
    public static func rounded(
        radius: Double, corners: ImageCorners = .all, borderWidth: Double = 0, borderColor: PixelColor = .black
    ) -> ImageTransformers {
        ImageTransformers([
            RoundedTransformer(
                radius: radius, corners: corners, borderWidth: borderWidth, borderColor: borderColor)
        ])
    }

    /// A transformer that crops the center of an image to a circle, with a smooth edge.
    /// - Parameters:
    ///   - borderWidth: the width of a border inside the circle, in pixels; 0 for none.
    ///   - borderColor: the color of the border.
    public static func circle(borderWidth: Double = 0, borderColor: PixelColor = .black) -> ImageTransformers {
        ImageTransformers([CircleTransformer(borderWidth: borderWidth, borderColor: borderColor)])
    }
}

extension ImageTransformer {
    /// Returns a sequence that then rounds the corners of the result, and draws a border inside its edges.
    /// - Parameters:
    ///   - radius: the radius of the corners, in pixels.
    ///   - corners: the corners to round.
    ///   - borderWidth: the width of the border, in pixels; 0 for none.
    ///   - borderColor: the color of the border.
    public func rounded(
        radius: Double, corners: ImageCorners = .all, borderWidth: Double = 0, borderColor: PixelColor = .black
    ) -> ImageTransformers {
        then(.rounded(radius: radius, corners: corners, borderWidth: borderWidth, borderColor: borderColor))
    }

    /// Returns a sequence that then crops the center of the result to a circle.
    /// - Parameters:
    ///   - borderWidth: the width of the border, in pixels; 0 for none.
    ///   - borderColor: the color of the border.
    public func circle(borderWidth: Double = 0, borderColor: PixelColor = .black) -> ImageTransformers {
        then(.circle(borderWidth: borderWidth, borderColor: borderColor))
    }
}
