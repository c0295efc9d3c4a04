internal import TintypeImages

/// The resolution of a component, in relation to the others.
struct JPEGSampling {
    var horizontal: Int
    var vertical: Int

    /// The side of a block in pixels after reduction: libjpeg reduces colors of lower resolution less, where it can, instead of enlarging
    /// them afterwards.
    func side(among all: [JPEGSampling], _ eighths: Int) -> Int {
        let most = Self.most(of: all)
        var side = eighths
        while side < 8, most.horizontal * eighths % (horizontal * side * 2) == 0,
            most.vertical * eighths % (vertical * side * 2) == 0
        {
            side *= 2
        }
        return side
    }

    /// The samples of the component after reduction.
    func size(of picture: PixelSize, among all: [JPEGSampling], _ eighths: Int) -> PixelSize {
        let (most, side) = (Self.most(of: all), side(among: all, eighths))
        return PixelSize(
            width: (picture.width * horizontal * side + 8 * most.horizontal - 1) / (8 * most.horizontal),
            height: (picture.height * vertical * side + 8 * most.vertical - 1) / (8 * most.vertical))
    }

    private static func most(of all: [JPEGSampling]) -> JPEGSampling {
        JPEGSampling(
            horizontal: all.map(\.horizontal).max() ?? 1, vertical: all.map(\.vertical).max() ?? 1)
    }
}

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
    /// 7/8 longer than all. Colors that are enlarged more in one direction than in the other, as with 4:1:1, keep at least the target's size.
    static func eighths(
        from source: PixelSize, to target: PixelSize, samplings: [JPEGSampling], isFast: Bool, isProgressive: Bool
    ) -> Int {
        let halves = isFast ? (isProgressive ? 4 : 2) : 5
        for eighths in [1, 2, 4] {
            let size = Self.size(source, eighths)
            let colors = samplings.map { $0.size(of: source, among: samplings, eighths) }
            let hasColors = colors.allSatisfy { $0.width >= target.width && $0.height >= target.height }
            if 2 * size.width >= halves * target.width, 2 * size.height >= halves * target.height, hasColors {
                return eighths
            }
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
