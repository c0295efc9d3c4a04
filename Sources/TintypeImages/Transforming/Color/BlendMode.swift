/// The combination of a source with a destination: the operators of Porter and Duff ("Compositing digital images", 1984), and
/// the blend modes of the W3C ("Compositing and Blending Level 1").
///
/// Colors are combined in their encoded form, as in browsers and image editors. In ``PixelFormat/rgbaFloat16``, colors darker than black or
/// brighter than white are limited only by modes whose formulas require it: overlay, color dodge and burn, hard and soft light, hue,
/// saturation, color and luminosity.
public enum BlendMode: String, Sendable, Hashable, CaseIterable {
    // Operators
    /// Nothing.
    case clear
    /// The source alone.
    case source
    /// The destination alone.
    case destination
    /// The source over the destination.
    case sourceOver
    /// The destination over the source.
    case destinationOver
    /// The source where the destination is.
    case sourceIn
    /// The destination where the source is.
    case destinationIn
    /// The source where the destination isn't.
    case sourceOut
    /// The destination where the source isn't.
    case destinationOut
    /// The source over the destination, where the destination is.
    case sourceAtop
    /// The destination over the source, where the source is.
    case destinationAtop
    /// Each where the other isn't.
    case xor
    /// The sum.
    case plusLighter
    /// The sum minus white, where both are opaque.
    case plusDarker

    // Blend modes
    /// The product, which is darker than either.
    case multiply
    /// The inverted product of the inverted colors, which is brighter than either.
    case screen
    /// Multiplies where the destination is dark, and screens where it is bright.
    case overlay
    /// The darker component of the two.
    case darken
    /// The brighter component of the two.
    case lighten
    /// Brightens the destination by the source.
    case colorDodge
    /// Darkens the destination by the source.
    case colorBurn
    /// Multiplies where the source is dark, and screens where it is bright.
    case hardLight
    /// A softer variant of ``hardLight``.
    case softLight
    /// The distance between the components.
    case difference
    /// Like ``difference``, with less contrast.
    case exclusion
    /// The hue of the source, with the saturation and luminosity of the destination.
    case hue
    /// The saturation of the source, with the hue and luminosity of the destination.
    case saturation
    /// The hue and saturation of the source, with the luminosity of the destination.
    case color
    /// The luminosity of the source, with the hue and saturation of the destination.
    case luminosity

    /// True if a clear source leaves every destination as it is.
    var ignoresClearSource: Bool {
        switch self {
        case .clear, .source, .sourceIn, .destinationIn, .sourceOut, .destinationAtop: false
        case .plusDarker: false  // It limits colors darker than black.
        default: true
        }
    }

    /// True if the result is a sum of products of the destination's premultiplied components, whatever the source is.
    var isLinear: Bool {
        switch self {
        case .clear, .source, .destination, .sourceOver, .destinationOver, .sourceIn, .destinationIn, .sourceOut,
            .destinationOut, .sourceAtop, .destinationAtop, .xor, .multiply, .screen, .hardLight, .exclusion:
            true
        case .plusLighter, .plusDarker, .overlay, .darken, .lighten, .colorDodge, .colorBurn, .softLight, .difference,
            .hue, .saturation, .color, .luminosity:
            false
        }
    }

    /// Returns premultiplied components of a source combined with a destination's.
    func blend(_ source: SIMD4<Float>, with destination: SIMD4<Float>) -> SIMD4<Float> {
        let (s, d) = (source, destination)
        switch self {
        case .clear: return .zero
        case .source: return s
        case .destination: return d
        case .sourceOver: return s + d * (1 - s.w)
        case .destinationOver: return d + s * (1 - d.w)
        case .sourceIn: return s * d.w
        case .destinationIn: return d * s.w
        case .sourceOut: return s * (1 - d.w)
        case .destinationOut: return d * (1 - s.w)
        case .sourceAtop: return s * d.w + d * (1 - s.w)
        case .destinationAtop: return d * s.w + s * (1 - d.w)
        case .xor: return s * (1 - d.w) + d * (1 - s.w)
        case .plusLighter:
            let sum = s + d
            return SIMD4(sum.x, sum.y, sum.z, min(1, sum.w))
        case .plusDarker:
            let alpha = min(1, s.w + d.w)
            let darkness = (SIMD4(repeating: s.w) - s) + (SIMD4(repeating: d.w) - d)
            let color = SIMD4(repeating: alpha) - darkness
            return SIMD4(max(0, color.x), max(0, color.y), max(0, color.z), alpha)
        default: return mix(s, with: d)
        }
    }

    /// Returns the result of a blend mode: the mixed color where both are, and each alone elsewhere.
    private func mix(_ s: SIMD4<Float>, with d: SIMD4<Float>) -> SIMD4<Float> {
        guard s.w > 0 else { return d }
        guard d.w > 0 else { return s }
        var (front, back) = (s.straight, d.straight)
        if needsLimitedColors {
            front = front.clamped(lowerBound: .zero, upperBound: .one)
            back = back.clamped(lowerBound: .zero, upperBound: .one)
        }
        let (cs, cb) = (SIMD3(front.x, front.y, front.z), SIMD3(back.x, back.y, back.z))
        let mixed: SIMD3<Float>
        switch self {
        case .hue: mixed = HSL.color(HSL.color(cs, saturation: HSL.saturation(cb)), luminosity: HSL.luminosity(cb))
        case .saturation:
            mixed = HSL.color(HSL.color(cb, saturation: HSL.saturation(cs)), luminosity: HSL.luminosity(cb))
        case .color: mixed = HSL.color(cs, luminosity: HSL.luminosity(cb))
        case .luminosity: mixed = HSL.color(cb, luminosity: HSL.luminosity(cs))
        default: mixed = SIMD3(mix(cs.x, cb.x), mix(cs.y, cb.y), mix(cs.z, cb.z))
        }
        let both = s.w * d.w
        let result = s * (1 - d.w) + d * (1 - s.w) + SIMD4(mixed * both, both)
        return result
    }

    /// True if the formula has a meaning only for colors from black to white.
    private var needsLimitedColors: Bool {
        switch self {
        case .multiply, .screen, .darken, .lighten, .difference, .exclusion: false
        default: true
        }
    }

    /// Returns the mixed component of a source and a backdrop.
    private func mix(_ cs: Float, _ cb: Float) -> Float {
        switch self {
        case .multiply: return cs * cb
        case .screen: return cs + cb - cs * cb
        case .overlay: return Self.hardLight(cb, cs)
        case .darken: return min(cs, cb)
        case .lighten: return max(cs, cb)
        case .colorDodge: return cb == 0 ? 0 : cs >= 1 ? 1 : min(1, cb / (1 - cs))
        case .colorBurn: return cb >= 1 ? 1 : cs <= 0 ? 0 : 1 - min(1, (1 - cb) / cs)
        case .hardLight: return Self.hardLight(cs, cb)
        case .softLight:
            guard cs > 0.5 else { return cb - (1 - 2 * cs) * cb * (1 - cb) }
            let curve = cb <= 0.25 ? ((16 * cb - 12) * cb + 4) * cb : cb.squareRoot()
            return cb + (2 * cs - 1) * (curve - cb)
        case .difference: return abs(cs - cb)
        case .exclusion: return cs + cb - 2 * cs * cb
        default: return cs
        }
    }

    private static func hardLight(_ cs: Float, _ cb: Float) -> Float {
        cs <= 0.5 ? 2 * cs * cb : 2 * cs - 1 + cb - (2 * cs - 1) * cb
    }
}

/// The functions of the non-separable blend modes.
private enum HSL {
    static func luminosity(_ color: SIMD3<Float>) -> Float { 0.3 * color.x + 0.59 * color.y + 0.11 * color.z }

    static func saturation(_ color: SIMD3<Float>) -> Float { color.max() - color.min() }

    /// Returns a color with another luminosity, whose components stay between 0 and 1.
    static func color(_ color: SIMD3<Float>, luminosity target: Float) -> SIMD3<Float> {
        var result = color + (target - luminosity(color))
        let light = luminosity(result)
        let (low, high) = (result.min(), result.max())
        if low < 0 { result = light + (result - light) * (light / (light - low)) }
        if high > 1 { result = light + (result - light) * ((1 - light) / (high - light)) }
        return result
    }

    /// Returns a color with another saturation.
    static func color(_ color: SIMD3<Float>, saturation: Float) -> SIMD3<Float> {
        let (low, high) = (color.min(), color.max())
        guard high > low else { return .zero }
        return (color - low) * (saturation / (high - low))
    }
}
