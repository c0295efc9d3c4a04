/// How urgent a load is. Work for a more urgent load is begun first, at every stage.
public enum ImagePriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    case veryLow, low, normal, high, veryHigh

    public static func < (left: ImagePriority, right: ImagePriority) -> Bool { left.rawValue < right.rawValue }
}
