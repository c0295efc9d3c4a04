/// Mirrors an image.
struct FlipTransformer: ImageTransformer {
    var horizontally: Bool
    var vertically: Bool

    var key: String {
        TransformKey("flip").with("horizontally", if: horizontally).with("vertically", if: vertically).description
    }

    func transform(_ image: Image) throws -> Image {
        let orientation: Orientation =
            switch (horizontally, vertically) {
            case (false, false): .up
            case (true, false): .upMirrored
            case (false, true): .downMirrored
            case (true, true): .down
            }
        return image.replacing(try image.pixels.oriented(orientation, pool: ProcessingContext.current.pool))
    }
}

extension ImageTransformer where Self == ImageTransformers {
    /// A transformer that mirrors an image.
    /// - Parameters:
    ///   - horizontally: true to exchange left and right.
    ///   - vertically: true to exchange top and bottom.
    public static func flip(horizontally: Bool = false, vertically: Bool = false) -> ImageTransformers {
        ImageTransformers([FlipTransformer(horizontally: horizontally, vertically: vertically)])
    }
}

extension ImageTransformer {
    /// Returns a sequence that then mirrors the result.
    /// - Parameters:
    ///   - horizontally: true to exchange left and right.
    ///   - vertically: true to exchange top and bottom.
    public func flip(horizontally: Bool = false, vertically: Bool = false) -> ImageTransformers {
        then(.flip(horizontally: horizontally, vertically: vertically))
    }
}
