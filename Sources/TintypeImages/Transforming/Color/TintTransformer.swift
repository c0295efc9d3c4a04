/// Combines an image with a color.
struct TintTransformer: ImageTransformer {
    var color: PixelColor
    var mode: BlendMode

    var key: String {
        // A clear color changes nothing.
        guard color.alpha != 0 else { return TransformKey("tint").description }
        let key = TransformKey("tint").with("color", color)
        return mode == .sourceIn ? key.description : key.with("mode", text: mode.rawValue).description
    }

    func transform(_ image: Image) throws -> Image {
        // Whatever its components, as in the key.
        guard color.alpha != 0 else { return image }
        try ParameterCheck("tint").check("color", color)
        let source = color.premultiplied(for: image.pixels.format)
        let context = ProcessingContext.current
        let pixels: PixelBuffer
        if image.pixels.format != .rgbaFloat16, let columns = columns(source, isOpaque: !image.hasAlpha) {
            pixels = try ColorMatrixTransformer.applied(columns, to: image.pixels, context)
        } else {
            pixels = try image.pixels.mappingComponents(context) { row, _ in
                for x in row.indices { row[x] = mode.blend(source, with: row[x]) }
            }
        }
        // Of an opaque color over opaque pixels, few operators make anything else.
        let alpha = mode.blend(source, with: SIMD4(0, 0, 0, 1)).w
        return image.replacing(pixels, hasAlpha: image.hasAlpha || alpha < 1)
    }

    /// The columns of a matrix for premultiplied pixels that does the same; `nil` if no matrix does.
    ///
    /// A matrix leaves clear pixels clear, and so must the mode, unless there are none.
    private func columns(_ source: SIMD4<Float>, isOpaque: Bool) -> [Float]? {
        guard mode.isLinear, isOpaque || mode.blend(source, with: .zero) == .zero else { return nil }
        let black = mode.blend(source, with: SIMD4(0, 0, 0, 1))
        let primaries: [SIMD4<Float>] = [SIMD4(1, 0, 0, 1), SIMD4(0, 1, 0, 1), SIMD4(0, 0, 1, 1)]
        let columns = primaries.map { mode.blend(source, with: $0) - black } + [black]
        return columns.flatMap { [$0.x, $0.y, $0.z, $0.w] }
    }
}

extension ImageTransformer where Self == ImageTransformers {
    /// A transformer that combines an image with a color. The color is the source, and the image the destination.
    /// - Parameters:
    ///   - color: the color. A color with an alpha of 0 leaves the image unchanged.
    ///   - mode: the blend mode. ``BlendMode/sourceIn`` gives an icon the color; ``BlendMode/color`` tints a photograph.
    public static func tint(_ color: PixelColor, mode: BlendMode = .sourceIn) -> ImageTransformers {
        ImageTransformers([TintTransformer(color: color, mode: mode)])
    }
}

extension ImageTransformer {
    /// Returns a sequence that then combines the result with a color.
    /// - Parameters:
    ///   - color: the color to combine with.
    ///   - mode: the blend mode.
    public func tint(_ color: PixelColor, mode: BlendMode = .sourceIn) -> ImageTransformers {
        then(.tint(color, mode: mode))
    }
}
