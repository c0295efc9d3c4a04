/// The urgency of a load. Wherever work waits, for a connection or for a thread that decodes or transforms, more urgent work
/// starts first.
public enum ImagePriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    case veryLow, low, normal, high, veryHigh

    public static func < (left: ImagePriority, right: ImagePriority) -> Bool { left.rawValue < right.rawValue }
}
