internal import Glibc

/// Conversion between sRGB and OKLab (Ottosson, "A perceptual color space for image processing", 2020), where equal
/// distances are about equal differences to the eye.
enum OKLab {
    static func lab(_ color: SIMD3<Float>) -> SIMD3<Float> {
        let (r, g, b) = (LinearLight.decode(color.x), LinearLight.decode(color.y), LinearLight.decode(color.z))
        let l = cbrtf(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
        let m = cbrtf(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
        let s = cbrtf(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
        return SIMD3(
            0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
            1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s)
    }

    /// Returns a color with components from 0 to 1.
    static func color(_ lab: SIMD3<Float>) -> PixelColor {
        let l = lab.x + 0.3963377774 * lab.y + 0.2158037573 * lab.z
        let m = lab.x - 0.1055613458 * lab.y - 0.0638541728 * lab.z
        let s = lab.x - 0.0894841775 * lab.y - 1.2914855480 * lab.z
        let (l3, m3, s3) = (l * l * l, m * m * m, s * s * s)
        func component(_ light: Float) -> Float { LinearLight.encode(min(max(light, 0), 1)) }
        return PixelColor(
            red: component(4.0767416621 * l3 - 3.3077115913 * m3 + 0.2309699292 * s3),
            green: component(-1.2684380046 * l3 + 2.6097574011 * m3 - 0.3413193965 * s3),
            blue: component(-0.0041960863 * l3 - 0.7034186147 * m3 + 1.7076147010 * s3))
    }
}
