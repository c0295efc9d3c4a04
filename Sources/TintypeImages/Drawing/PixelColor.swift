/// A color in sRGB, not premultiplied. Components range from 0 to 1.
public struct PixelColor: Sendable, Hashable {
    /// The red component, from 0 to 1.
    public var red: Float
    /// The green component, from 0 to 1.
    public var green: Float
    /// The blue component, from 0 to 1.
    public var blue: Float
    /// The opacity, from 0 for transparent to 1 for opaque.
    public var alpha: Float

    /// Creates a color. Each parameter sets the property of the same name.
    public init(red: Float, green: Float, blue: Float, alpha: Float = 1) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Transparent black.
    public static let clear = PixelColor(red: 0, green: 0, blue: 0, alpha: 0)
    /// Opaque black.
    public static let black = PixelColor(red: 0, green: 0, blue: 0)
    /// Opaque white.
    public static let white = PixelColor(red: 1, green: 1, blue: 1)

    /// The color with another opacity.
    package func withAlpha(_ alpha: Float) -> PixelColor {
        var color = self
        color.alpha = alpha
        return color
    }

    /// Returns the premultiplied components, limited to the range of a format; NaN becomes 0.
    func premultiplied(for format: PixelFormat) -> SIMD4<Float> {
        var color = SIMD4(red, green, blue, alpha)
        color = color.replacing(with: 0, where: color .!= color)
        color.w = min(max(color.w, 0), 1)
        // Only floating point can exceed white.
        if format != .rgbaFloat16 { color = color.clamped(lowerBound: .zero, upperBound: .one) }
        return color * SIMD4(color.w, color.w, color.w, 1)
    }
}
