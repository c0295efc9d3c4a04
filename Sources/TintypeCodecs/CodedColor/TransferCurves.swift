internal import Glibc

/// The curves of high dynamic range and of sRGB.
enum TransferCurves {
    /// Nits of a number of the perceptual quantizer (SMPTE ST 2084, and BT.2100, table 4).
    static func pqLight(_ value: Double) -> Double {
        let power = pow(max(0, value), 1 / pqM2)
        return 10_000 * pow(max(power - pqC1, 0) / (pqC2 - pqC3 * power), 1 / pqM1)
    }

    /// Returns the number of the perceptual quantizer for light in nits.
    static func pqValue(_ nits: Double) -> Double {
        let power = pow(max(0, nits) / 10_000, pqM1)
        return pow((pqC1 + pqC2 * power) / (1 + pqC3 * power), pqM2)
    }

    private static let pqM1 = 2_610.0 / 16_384
    private static let pqM2 = 2_523.0 / 4_096 * 128
    private static let pqC1 = 3_424.0 / 4_096
    private static let pqC2 = 2_413.0 / 4_096 * 32
    private static let pqC3 = 2_392.0 / 4_096 * 32

    /// The light of the scene, from 0 to 1, of a number of hybrid log-gamma (BT.2100, table 5).
    static func hlgLight(_ value: Double) -> Double {
        let (a, b, c) = (0.178_832_77, 0.284_668_92, 0.559_910_73)
        return value <= 0.5 ? value * value / 3 : (exp((value - c) / a) + b) / 12
    }

    /// The number of sRGB for light (IEC 61966-2-1); above 1 the curve goes on.
    static func sRGBValue(_ light: Double) -> Double {
        light <= 0.003_130_8 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }

    /// The light of a number of sRGB: the inverse of ``sRGBValue(_:)``.
    static func sRGBLight(_ value: Double) -> Double {
        value <= 0.040_45 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }
}
