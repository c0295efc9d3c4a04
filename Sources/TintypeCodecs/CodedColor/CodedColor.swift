#if AVIF || HEIF || JXL
internal import FoundationEssentials
internal import TintypeImages

/// The treatment of the decoded rows of a file that states its colors by a profile or by code points.
struct CodedColor {
    /// Not `nil` for high dynamic range: rows are to be decoded with ``ToneMapping/bits`` bits.
    let toneMapping: ToneMapping?
    /// Not `nil` for high dynamic range that stays so: rows are to be decoded to straight RGBA of 16 bits.
    let extendedRange: ExtendedRange?
    /// The format of finished rows.
    let format: PixelFormat
    private let conversion: ColorConversion?
    /// The color space of the finished pixels.
    let colorSpace: ColorSpace

    /// - Parameters:
    ///   - profile: An ICC profile, which takes precedence over the code points.
    ///   - codePoints: The code points of the file.
    ///   - isGray: Whether red, green and blue are the same in every pixel.
    ///   - keepsColorSpace: Whether the numbers stay as they are, if they are RGB.
    ///   - format: The format of finished rows.
    ///   - bitsPerComponent: The bits of the file's pixels. More than 8 are converted with 16 bits, and rounded afterwards.
    init(
        profile: Data?, codePoints: CodePoints, isGray: Bool, keepsColorSpace: Bool, format: PixelFormat = .rgba8,
        bitsPerComponent: Int = 8
    ) {
        self.format = format
        if keepsColorSpace, let kept = Self.kept(profile, codePoints) {
            toneMapping = nil
            extendedRange = nil
            conversion = nil
            colorSpace = kept
            return
        }
        colorSpace = format == .rgbaFloat16 ? .extendedSRGB : .sRGB
        let isHighDynamicRange = profile == nil && codePoints.isHighDynamicRange
        toneMapping = isHighDynamicRange && format == .rgba8 ? ToneMapping(codePoints) : nil
        extendedRange = isHighDynamicRange && format == .rgbaFloat16 ? ExtendedRange(codePoints) : nil
        let source = profile ?? (isHighDynamicRange ? nil : codePoints.profile)
        let working = format == .rgba8 && bitsPerComponent > 8 ? .rgba16 : format
        conversion = source.flatMap {
            RecentConversions.conversion(of: $0, isGray ? .gray : .rgb, working)
        }
    }

    /// The color space of pixels that keep their numbers; `nil` if its profile isn't an RGB profile, so that they have to be converted.
    private static func kept(_ profile: Data?, _ codePoints: CodePoints) -> ColorSpace? {
        if let profile { return ColorConversion.keptColorSpace(profile) }
        return codePoints.profile.map { ColorSpace(name: codePoints.name, profile: $0) } ?? .sRGB
    }

    /// True if decoded pixels of standard range are already sRGB, or are kept unchanged.
    var isIdentity: Bool { toneMapping == nil && extendedRange == nil && conversion == nil }

    /// True if rows have to be decoded with 16 bits, and finished with ``finish(_:to:count:premultiplies:)``.
    var takesDeepRows: Bool { format != .rgba8 || conversion?.format == .rgba16 }

    /// Makes a finished row of straight RGBA of 16 bits: premultiplied, in the format.
    func finish(_ source: UnsafePointer<UInt16>, to row: UnsafeMutableRawPointer, count: Int, premultiplies: Bool) {
        if let extendedRange { return extendedRange.convert(source, to: row, count: count) }
        guard format == .rgba8 else {
            row.copyMemory(from: source, byteCount: count * 8)
            convert(row, count: count)
            if premultiplies { Premultiplication.premultiply(row, count: count, format: .rgba16) }
            return
        }
        withUnsafeTemporaryAllocation(of: UInt16.self, capacity: count * 4) { deep in
            guard let deep = deep.baseAddress else { return }
            deep.initialize(from: source, count: count * 4)
            convert(deep, count: count)
            DepthRounding.round(deep, to: row, count: count)
        }
        if premultiplies { Premultiplication.premultiply(row, count: count) }
    }

    /// Converts straight pixels of standard range to sRGB in place; they have 16 bits if ``takesDeepRows`` says so.
    func convert(_ row: UnsafeMutableRawPointer, count: Int) { conversion?.convert(row, count: count) }

    /// Returns the name of the color space that a file states, or `nil` for plain sRGB.
    static func name(profile: Data?, codePoints: CodePoints) -> String? {
        profile.map { ColorConversion.name(of: $0) ?? "ICC profile" } ?? (codePoints.isSRGB ? nil : codePoints.name)
    }
}
#endif
