/// The resolution of color in a file, beside that of brightness.
public enum ChromaSubsampling: String, Sendable, Hashable, CaseIterable {
    /// All of it (4:4:4).
    case full
    /// Half of it across (4:2:2).
    case halfAcross
    /// Half of it in both directions (4:2:0).
    case half
}
