/// The urgency of a load. Whenever work waits for a connection or for a thread, more urgent work starts first.
public enum ImagePriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// After everything else, for example to load images speculatively.
    case veryLow
    /// Below normal loads, for example for prefetching.
    case low
    /// The default.
    case normal
    /// Before normal loads, for example for an image on the screen.
    case high
    /// Before everything else, for example for the image that the user is looking at.
    case veryHigh

    /// Compares the urgency.
    public static func < (left: ImagePriority, right: ImagePriority) -> Bool { left.rawValue < right.rawValue }
}
