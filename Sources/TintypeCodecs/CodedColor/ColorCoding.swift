#if AVIF || HEIF
/// The relation of luma and chroma to colors, and the meaning of those colors (ITU-T H.273).
struct ColorCoding: Equatable {
    var codePoints: CodePoints
    /// Table 4 of H.273.
    var matrix: Int
    /// True if components use the full range of numbers; false if both ends are reserved, as in television.
    var isFullRange: Bool
}
#endif
