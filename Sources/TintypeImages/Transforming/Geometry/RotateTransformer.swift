internal import Glibc

/// Rotates an image clockwise by any angle.
struct RotateTransformer: ImageTransformer {
    /// The angle, from 0 to less than 360.
    let degrees: Double
    let expands: Bool
    let background: PixelColor

    init(degrees: Double, expands: Bool, background: PixelColor) {
        let remainder = degrees.truncatingRemainder(dividingBy: 360)
        // A tiny negative angle plus 360 is rounded to 360.
        let positive = remainder < 0 ? remainder + 360 : remainder
        self.degrees = positive == 360 ? 0 : positive
        self.expands = expands
        self.background = background
    }

    var key: String {
        var key = TransformKey("rotate").with("degrees", degrees)
        if degrees.truncatingRemainder(dividingBy: 180) != 0 { key = key.with("clips", if: !expands) }
        if showsBackground { key = key.with("background", background, default: .clear) }
        return key.description
    }

    /// A canvas of the same size is filled by half a turn, and an expanding canvas by quarter turns.
    private var showsBackground: Bool { degrees.truncatingRemainder(dividingBy: expands ? 90 : 180) != 0 }

    func transform(_ image: Image) throws -> Image {
        let check = ParameterCheck("rotate")
        try check.check("degrees", finite: degrees)
        if showsBackground { try check.check("background", background) }
        let context = ProcessingContext.current
        if degrees.truncatingRemainder(dividingBy: 90) == 0 {
            let orientation: Orientation =
                switch degrees {
                case 90: .right
                case 180: .down
                case 270: .left
                default: .up
                }
            let turned = image.replacing(try image.pixels.oriented(orientation, pool: context.pool))
            return try expands ? turned : centered(turned, on: image.size, context)
        }
        let (sine, cosine) = (sin(degrees * .pi / 180), cos(degrees * .pi / 180))
        var size = image.size
        if expands {
            let (width, height) = (Double(size.width), Double(size.height))
            size = PixelSize(
                width: Self.side(width * abs(cosine) + height * abs(sine)),
                height: Self.side(width * abs(sine) + height * abs(cosine)))
        }
        let sampler = AffineSampler(source: image.pixels, size: size, sine: sine, cosine: cosine)
        let pixels = try sampler.pixels(background: background, context)
        return image.replacing(pixels, hasAlpha: image.hasAlpha || background.alpha < 1)
    }

    /// Rounds a side up, unless only the error of the sine exceeds a whole number.
    private static func side(_ value: Double) -> Int { max(1, Int((value - 1e-6).rounded(.up))) }

    /// Returns the middle of a turned image in the middle of a canvas. Halves of a pixel are rounded down.
    private func centered(
        _ turned: Image, on size: PixelSize, _ context: ProcessingContext
    ) throws(ImageError) -> Image {
        let width = min(size.width, turned.size.width)
        let height = min(size.height, turned.size.height)
        let part = PixelRect(
            x: (turned.size.width - width) / 2, y: (turned.size.height - height) / 2, width: width, height: height)
        let middle = turned.replacing(try turned.pixels.cropped(to: part, context))
        return try PadTransformer.placing(
            middle, on: size, x: (size.width - width) / 2, y: (size.height - height) / 2, color: background, context)
    }
}

extension ImageTransformer where Self == ImageTransformers {
    /// A transformer that rotates an image clockwise about its center.
    ///
    /// Quarter turns move pixels without changing them. If the size is kept and its sides differ by an odd number, the result is half a
    /// pixel off center. Other angles interpolate with a cubic filter (Catmull-Rom), with smooth edges.
    /// - Parameters:
    ///   - degrees: the angle. Negative angles are counterclockwise.
    ///   - expands: true to enlarge the canvas to fit the whole rotated image; false to keep the size and to clip the corners.
    ///   - background: the color of the area that the image doesn't cover.
    public static func rotate(
        degrees: Double, expands: Bool = true, background: PixelColor = .clear
    ) -> ImageTransformers {
        ImageTransformers([RotateTransformer(degrees: degrees, expands: expands, background: background)])
    }
}

extension ImageTransformer {
    /// Returns a sequence that then rotates the result clockwise about its center.
    /// - Parameters:
    ///   - degrees: the angle in degrees, clockwise.
    ///   - expands: true to enlarge the canvas until the whole picture fits.
    ///   - background: the color of uncovered corners.
    public func rotate(
        degrees: Double, expands: Bool = true, background: PixelColor = .clear
    ) -> ImageTransformers {
        then(.rotate(degrees: degrees, expands: expands, background: background))
    }
}
