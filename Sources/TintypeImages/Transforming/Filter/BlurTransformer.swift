/// Blurs an image with a Gaussian filter.
struct BlurTransformer: ImageTransformer {
    /// The standard deviation in pixels.
    let radius: Double
    let isLinear: Bool

    /// The largest radius. Larger radii differ little, because the whole image is averaged.
    static let largestRadius = 2_000.0

    init(radius: Double, isLinear: Bool) {
        self.radius = radius > Self.largestRadius && radius.isFinite ? Self.largestRadius : radius
        self.isLinear = isLinear
    }

    var key: String {
        TransformKey("blur").with("radius", radius).with("linear", if: isLinear && radius != 0).description
    }

    func transform(_ image: Image) throws -> Image {
        try ParameterCheck("blur").check("radius", radius, in: 0 ... .greatestFiniteMagnitude)
        guard radius > 0 else { return image }
        return image.replacing(
            try GaussianBlur(sigma: radius, isLinear: isLinear).blurred(image.pixels, ProcessingContext.current))
    }
}

extension ImageTransformer where Self == ImageTransformers {
    /// A transformer that blurs an image with a Gaussian filter.
    ///
    /// Below a radius of 2, or of 7 for 8-bit pixels that aren't blurred in linear light, the filter is an exact Gaussian, and its time
    /// grows with the radius. For larger radii, three box filters approximate it, with a difference of less than 3 % of the contrast; their
    /// time hardly depends on the radius. Pixels at the edges are repeated beyond the edges.
    /// - Parameters:
    ///   - radius: the standard deviation in pixels, as in CSS. Radii above 2,000 count as 2,000.
    ///   - inLinearLight: true to blur light instead of encoded values: highlights remain bright, as with an out-of-focus lens. It takes
    ///     several times as long.
    public static func blur(radius: Double, inLinearLight: Bool = false) -> ImageTransformers {
        ImageTransformers([BlurTransformer(radius: radius, isLinear: inLinearLight)])
    }
}

extension ImageTransformer {
    /// Returns a sequence that then blurs the result with a Gaussian filter.
    /// - Parameters:
    ///   - radius: the standard deviation in pixels. Radii above 2,000 count as 2,000.
    ///   - inLinearLight: true to blur light instead of encoded values.
    public func blur(radius: Double, inLinearLight: Bool = false) -> ImageTransformers {
        then(.blur(radius: radius, inLinearLight: inLinearLight))
    }
}
