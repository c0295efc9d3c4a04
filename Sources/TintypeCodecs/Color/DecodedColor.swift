internal import FoundationEssentials
internal import TintypeCore

/// What the colour profile of a file means for the pixels that are decoded from it.
struct DecodedColor {
    /// What the pixels have to go through; `nil` if they stay as they are.
    let conversion: ColorConversion?
    /// The colour space of the pixels afterwards.
    let space: ColorSpace

    /// - Parameters:
    ///   - profile: the ICC profile of the file, if it has one.
    ///   - format: of the pixels.
    init(
        profile: Data?, source: ColorConversion.Source, options: DecodeOptions, format: PixelFormat = .rgba8
    ) {
        guard let profile else {
            (conversion, space) = (nil, .sRGB)
            return
        }
        if options.keepsColorSpace, case .rgb = source, let kept = ColorConversion.keptColorSpace(profile) {
            (conversion, space) = (nil, kept)
        } else {
            (conversion, space) = (ColorConversion(profile: profile, source: source, format: format), .sRGB)
        }
    }
}

/// Makes of a row of straight RGBA, as libraries give it, one as images have it.
struct RowFinisher {
    let width: Int
    let conversion: ColorConversion?
    let premultiplies: Bool
    /// Whether pixels of 8 bits lose the alpha that they have.
    var makesOpaque = false
    var format = PixelFormat.rgba8

    func finish(_ row: UnsafeMutableRawPointer) {
        if makesOpaque { Self.makeOpaque(row, count: width) }
        conversion?.convert(row, count: width)
        if premultiplies { Premultiplication.premultiply(row, count: width, format: format) }
    }

    private static func makeOpaque(_ row: UnsafeMutableRawPointer, count: Int) {
        let pixels = row.assumingMemoryBound(to: UInt32.self)
        for x in 0..<count { pixels[x] |= UInt32(bigEndian: 0xFF) }
    }
}
