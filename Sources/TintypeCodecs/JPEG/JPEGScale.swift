internal import TintypeCore

/// At which of the scales that libjpeg has (1/8 to 8/8, by a smaller inverse transform) a thumbnail is decoded.
enum JPEGScale {
    /// The smallest scale, in eighths, at which both sides are at least twice the target's; 8 if none is.
    ///
    /// Twice the size and a Lanczos filter from there keep 54 dB against a full decode; once the size keeps 46.
    static func eighths(from source: PixelSize, to target: PixelSize) -> Int {
        for eighths in 1..<8 {
            let size = Self.size(source, eighths)
            if size.width >= 2 * target.width, size.height >= 2 * target.height { return eighths }
        }
        return 8
    }

    /// The size at a scale: sides are rounded up.
    static func size(_ source: PixelSize, _ eighths: Int) -> PixelSize {
        PixelSize(width: (source.width * eighths + 7) / 8, height: (source.height * eighths + 7) / 8)
    }
}
