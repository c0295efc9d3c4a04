#if AVIF || HEIF
/// The relation of luma and chroma to colors, and the meaning of those colors (ITU-T H.273).
struct ColorCoding: Equatable {
    var codePoints: CodePoints
    /// Table 4 of H.273.
    var matrix: Int
    /// Whether the numbers take all values, or leave room at both ends as television does.
    var isFullRange: Bool
}
#endif
