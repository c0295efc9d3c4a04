/// Tells when the system, or the program's control group, runs out of memory.
public final class MemoryPressure: Sendable {
    /// How scarce memory is.
    public enum Level: Int, Sendable, Hashable, Comparable, CaseIterable {
        /// Programs begin to wait for memory.
        case warning
        /// Little else is done than waiting for memory, or the limit of the control group is reached.
        case critical

        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }
}
