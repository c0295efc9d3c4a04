#if AVIF || HEIF || JXL
internal import FoundationEssentials
internal import TintypeCore

/// What has to be done with the decoded rows of a file that states its colours by a profile or by code points.
struct CodedColor {
    /// Not `nil` for high dynamic range: rows are to be decoded with ``ToneMapping/bits`` bits.
    let toneMapping: ToneMapping?
    private let conversion: ColorConversion?
    /// What the finished pixels are in.
    let colorSpace: ColorSpace

    /// - Parameters:
    ///   - profile: an ICC profile, which has precedence over the code points.
    ///   - isGray: whether red, green and blue are the same in every pixel.
    ///   - keepsColorSpace: leaves the numbers as they are.
    init(profile: Data?, codePoints: CodePoints, isGray: Bool, keepsColorSpace: Bool) {
        if keepsColorSpace {
            toneMapping = nil
            conversion = nil
            colorSpace =
                profile.map { ColorConversion.keptColorSpace($0) ?? .sRGB }
                ?? codePoints.profile.map { ColorSpace(name: codePoints.name, profile: $0) } ?? .sRGB
            return
        }
        colorSpace = .sRGB
        toneMapping = profile == nil ? ToneMapping(codePoints) : nil
        let source = profile ?? (toneMapping == nil ? codePoints.profile : nil)
        conversion = source.flatMap { ColorConversion(profile: $0, source: isGray ? .gray : .rgb) }
    }

    /// Whether decoded pixels of 8 bits are sRGB, or are to stay what they are.
    var isIdentity: Bool { toneMapping == nil && conversion == nil }

    /// Takes straight pixels of 8 bits to sRGB, in place.
    func convert(_ row: UnsafeMutableRawPointer, count: Int) { conversion?.convert(row, count: count) }

    /// The name of what a file states; `nil` for plain sRGB.
    static func name(profile: Data?, codePoints: CodePoints) -> String? {
        profile.map { ColorConversion.name(of: $0) ?? "ICC profile" } ?? (codePoints.isSRGB ? nil : codePoints.name)
    }
}
#endif
