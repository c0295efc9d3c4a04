#if AVIF || HEIF || JXL
internal import FoundationEssentials
internal import TintypeCore

/// What has to be done with the decoded rows of a file that states its colours by a profile or by code points.
struct CodedColor {
    /// Not `nil` for high dynamic range: rows are to be decoded with ``ToneMapping/bits`` bits.
    let toneMapping: ToneMapping?
    /// Not `nil` for high dynamic range that stays so: rows are to be decoded to straight RGBA of 16 bits.
    let extendedRange: ExtendedRange?
    /// What finished rows are.
    let format: PixelFormat
    private let conversion: ColorConversion?
    /// What the finished pixels are in.
    let colorSpace: ColorSpace

    /// - Parameters:
    ///   - profile: an ICC profile, which has precedence over the code points.
    ///   - isGray: whether red, green and blue are the same in every pixel.
    ///   - keepsColorSpace: leaves the numbers as they are.
    ///   - format: what rows are to become.
    init(
        profile: Data?, codePoints: CodePoints, isGray: Bool, keepsColorSpace: Bool, format: PixelFormat = .rgba8
    ) {
        self.format = format
        if keepsColorSpace {
            toneMapping = nil
            extendedRange = nil
            conversion = nil
            colorSpace =
                profile.map { ColorConversion.keptColorSpace($0) ?? .sRGB }
                ?? codePoints.profile.map { ColorSpace(name: codePoints.name, profile: $0) } ?? .sRGB
            return
        }
        colorSpace = format == .rgbaFloat16 ? .extendedSRGB : .sRGB
        let isHighDynamicRange = profile == nil && codePoints.isHighDynamicRange
        toneMapping = isHighDynamicRange && format == .rgba8 ? ToneMapping(codePoints) : nil
        extendedRange = isHighDynamicRange && format == .rgbaFloat16 ? ExtendedRange(codePoints) : nil
        let source = profile ?? (isHighDynamicRange ? nil : codePoints.profile)
        conversion = source.flatMap {
            ColorConversion(profile: $0, source: isGray ? .gray : .rgb, format: format)
        }
    }

    /// Whether decoded pixels of standard range are sRGB, or are to stay what they are.
    var isIdentity: Bool { toneMapping == nil && extendedRange == nil && conversion == nil }

    /// Makes a finished row of straight RGBA of 16 bits: premultiplied, in the format.
    func finish(_ source: UnsafePointer<UInt16>, to row: UnsafeMutableRawPointer, count: Int, premultiplies: Bool) {
        if let extendedRange {
            extendedRange.convert(source, to: row, count: count)
        } else {
            row.copyMemory(from: source, byteCount: count * 8)
            convert(row, count: count)
            if premultiplies { Premultiplication.premultiply(row, count: count, format: .rgba16) }
        }
    }

    /// Takes straight pixels of standard range in the format to sRGB, in place.
    func convert(_ row: UnsafeMutableRawPointer, count: Int) { conversion?.convert(row, count: count) }

    /// The name of what a file states; `nil` for plain sRGB.
    static func name(profile: Data?, codePoints: CodePoints) -> String? {
        profile.map { ColorConversion.name(of: $0) ?? "ICC profile" } ?? (codePoints.isSRGB ? nil : codePoints.name)
    }
}
#endif
