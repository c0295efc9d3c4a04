#if TIFF
internal import CLCMS2
internal import TintypeImages

/// The numbers that stand for L*, a* and b* in a TIFF file.
enum LabEncoding {
    /// With signed a* and b* (TIFF 6.0, section 23; Adobe's technical notes of 2002 for 16 bits).
    case cie
    /// The encoding of ICC profiles, version 2, with a* and b* offset by 128, where L* = 100 is 0xFF00 in 16 bits.
    case icc

    /// Returns component 0, 1 or 2 of a number of 8 bits.
    @inline(__always)
    func value(_ number: UInt8, component: Int) -> Float {
        if component == 0 { return Float(number) * (100 / 255) }
        return self == .cie ? Float(Int8(bitPattern: number)) : Float(number) - 128
    }

    /// Returns component 0, 1 or 2 of a number of 16 bits.
    @inline(__always)
    func value(_ number: UInt16, component: Int) -> Float {
        switch (self, component) {
        case (.cie, 0): Float(number) * (100 / 65_535)
        case (.icc, 0): Float(number) * (100 / 65_280)
        case (.cie, _): Float(Int16(bitPattern: number)) / 256
        case (.icc, _): Float(number) / 256 - 128
        }
    }
}

/// Converts L*a*b* with the white of D50 to sRGB (CIE 15, section 8.2.1), in floating point.
enum LabConversion {
    /// The white of ICC's connection space, D50.
    private static let white = (x: 0.9642, y: 1.0, z: 0.8249)
    private static let columns = (
        MatrixConversion.linearSRGB(of: cmsCIEXYZ(X: white.x, Y: 0, Z: 0)),
        MatrixConversion.linearSRGB(of: cmsCIEXYZ(X: 0, Y: white.y, Z: 0)),
        MatrixConversion.linearSRGB(of: cmsCIEXYZ(X: 0, Y: 0, Z: white.z))
    )

    /// Writes the red, green and blue of RGBA; alpha stays.
    ///
    /// - Parameters:
    ///   - lab: Three numbers for each pixel.
    ///   - row: RGBA of the format.
    ///   - format: 8 or 16 bits.
    ///   - count: The number of pixels.
    static func convert(
        _ lab: UnsafePointer<Float>, to row: UnsafeMutableRawPointer, format: PixelFormat, count: Int
    ) {
        if format == .rgba8 {
            let bytes = row.assumingMemoryBound(to: UInt8.self)
            convert(lab, count: count) { bytes[$0] = UInt8($1 * 255 + 0.5) }
        } else {
            let words = row.assumingMemoryBound(to: UInt16.self)
            convert(lab, count: count) { words[$0] = UInt16($1 * 65_535 + 0.5) }
        }
    }

    @inline(__always)
    private static func convert(
        _ lab: UnsafePointer<Float>, count: Int, _ write: (_ place: Int, _ level: Float) -> Void
    ) {
        let (columns, encode) = (columns, SRGBCurve.encode)
        for x in 0..<count {
            let middle = (lab[x * 3] + 16) / 116
            let light = (
                light(middle + lab[x * 3 + 1] / 500), light(middle), light(middle - lab[x * 3 + 2] / 200)
            )
            let linear = columns.0 * light.0 + columns.1 * light.1 + columns.2 * light.2
            for component in 0..<3 { write(x * 4 + component, encode.value(min(linear[component], 1))) }
        }
    }

    /// The share of white's light.
    @inline(__always)
    private static func light(_ value: Float) -> Float {
        value > 24 / 116 ? value * value * value : (value - 16 / 116) * (108 / 841)
    }
}
#endif
