/// The resolution of color in a file, relative to brightness.
public enum ChromaSubsampling: String, Sendable, Hashable, CaseIterable {
    /// Full resolution (4:4:4).
    case full
    /// Half the horizontal resolution (4:2:2).
    case halfAcross
    /// Half the resolution in both directions (4:2:0).
    case half
}
