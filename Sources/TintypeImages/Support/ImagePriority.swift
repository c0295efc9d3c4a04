/// The urgency of a load. Wherever work waits, for a connection or for a thread that decodes or transforms, more urgent work
/// starts first.
public enum ImagePriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// After everything else, such as for a guess about what the user needs next.
    case veryLow
    /// Below usual loads, such as for prefetching.
    case low
    /// The default.
    case normal
    /// Before usual loads, such as for an image on the screen.
    case high
    /// Before everything else, such as for the image that the user looks at.
    case veryHigh

    /// Compares the urgency.
    public static func < (left: ImagePriority, right: ImagePriority) -> Bool { left.rawValue < right.rawValue }
}
