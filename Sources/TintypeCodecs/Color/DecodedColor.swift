internal import FoundationEssentials
internal import TintypeImages

/// The treatment that the color profile of a file asks for.
struct DecodedColor {
    /// The conversion that the pixels go through; `nil` if they stay as they are. Its format may have more bits than the format
    /// of the finished pixels: see ``init(profile:source:options:format:bitsPerComponent:)``.
    let conversion: ColorConversion?
    /// The color space of the pixels afterwards.
    let space: ColorSpace

    /// - Parameters:
    ///   - profile: The ICC profile of the file, if any.
    ///   - source: The kind of pixels that the file has. Only RGB profiles can be kept, because finished pixels are RGB: others are
    ///     converted even if the options keep the color space.
    ///   - options: The options of the decode.
    ///   - format: The format of the finished pixels.
    ///   - bitsPerComponent: The bits of the pixels that are passed to the conversion. With more than 8, the conversion has 16 bits
    ///     even if the finished pixels have 8, so that rounding comes last: see ``ColorConversion/convert(_:roundingTo:count:)``.
    init(
        profile: Data?, source: ColorConversion.Source, options: DecodeOptions, format: PixelFormat = .rgba8,
        bitsPerComponent: Int = 8
    ) {
        guard let profile else {
            (conversion, space) = (nil, .sRGB)
            return
        }
        if options.keepsColorSpace, source.isRGB, let kept = ColorConversion.keptColorSpace(profile) {
            (conversion, space) = (nil, kept)
        } else {
            let working = format == .rgba8 && bitsPerComponent > 8 ? .rgba16 : format
            (conversion, space) = (RecentConversions.conversion(of: profile, source, working), .sRGB)
        }
    }
}

extension DecodedColor {
    /// True if pixels may be averaged before they are converted.
    var keepsAverages: Bool { conversion?.keepsAverages ?? true }
}

extension ColorConversion.Source {
    /// True if decoded pixels are RGB before any conversion.
    fileprivate var isRGB: Bool {
        switch self {
        case .rgb, .gray: true
        case .cmyk: false
        }
    }
}

/// Finishes rows of straight RGBA, as libraries give them: converted and premultiplied.
struct RowFinisher {
    let width: Int
    let conversion: ColorConversion?
    let premultiplies: Bool
    /// True if the alpha of 8-bit pixels is replaced with opacity.
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
