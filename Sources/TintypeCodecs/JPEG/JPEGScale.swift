internal import TintypeImages

/// The fraction of its size a JPEG is decoded for a thumbnail, by a smaller inverse transform.
enum JPEGScale {
    /// 1, 2, 4 or 8 eighths: the smallest scale that makes both sides at least two and a half times the target's, or at least the
    /// target's if it is to be fast; or 8.
    ///
    /// Two and a half times the size and a Lanczos filter from there keep at least 50 dB against a full decode of pictures with much
    /// detail. Twice the size keeps 49, and 47.7 where chroma is subsampled and the scale is 4: libjpeg then takes it as it is, and a
    /// full decode smooths it. Once the size keeps 46 dB of photographs. Of a progressive file it is the scans that cost time, not the
    /// scale. libjpeg-turbo
    /// also has the scales between, but only these with SIMD: of 12 megapixels, 3/8 takes longer than 4/8 does, and 5/8 to
    /// 7/8 longer than all.
    static func eighths(
        from source: PixelSize, to target: PixelSize, isFast: Bool, isProgressive: Bool
    ) -> Int {
        let halves = isFast ? (isProgressive ? 4 : 2) : 5
        for eighths in [1, 2, 4] {
            let size = Self.size(source, eighths)
            if 2 * size.width >= halves * target.width, 2 * size.height >= halves * target.height { return eighths }
        }
        return 8
    }

    /// The part of the size at a scale that the picture fills.
    static func extent(_ source: PixelSize, _ eighths: Int) -> ResampledExtent {
        ResampledExtent(width: Double(source.width * eighths) / 8, height: Double(source.height * eighths) / 8)
    }

    /// The size at a scale: sides are rounded up.
    static func size(_ source: PixelSize, _ eighths: Int) -> PixelSize {
        PixelSize(width: (source.width * eighths + 7) / 8, height: (source.height * eighths + 7) / 8)
    }
}
