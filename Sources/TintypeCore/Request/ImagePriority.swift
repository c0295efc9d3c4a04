/// How urgent a load is. Where work waits (for a connection, for a thread that decodes or transforms), that of a more urgent load
/// is begun first.
public enum ImagePriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    case veryLow, low, normal, high, veryHigh

    public static func < (left: ImagePriority, right: ImagePriority) -> Bool { left.rawValue < right.rawValue }
}
