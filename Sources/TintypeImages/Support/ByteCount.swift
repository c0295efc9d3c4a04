/// A number of bytes with a unit: `.megabytes(100)`.
///
/// Units are decimal, as for storage devices and in `du --si`: a megabyte is 1,000,000 bytes.
///
/// ```swift
/// let limit = ByteCount.megabytes(60)
/// print(limit)  // 60.0 MB
/// ```
public struct ByteCount: Hashable, Comparable, Sendable, Codable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// The number of bytes.
    public var bytes: Int

    /// Creates a count.
    /// - Parameter bytes: the number of bytes.
    public init(_ bytes: Int) { self.bytes = bytes }
    /// Creates a count from a literal number of bytes.
    /// - Parameter value: the number of bytes.
    public init(integerLiteral value: Int) { bytes = value }

    /// Returns a count of bytes.
    /// - Parameter count: the number of bytes.
    package static func bytes(_ count: Int) -> ByteCount { ByteCount(count) }
    /// Returns a count of kilobytes, of 1,000 bytes each.
    /// - Parameter count: the number of kilobytes.
    public static func kilobytes(_ count: Int) -> ByteCount { scaled(count, 1_000) }
    /// Returns a count of megabytes, of 1,000,000 bytes each.
    /// - Parameter count: the number of megabytes.
    public static func megabytes(_ count: Int) -> ByteCount { scaled(count, 1_000_000) }
    /// Returns a count of gigabytes, of 1,000,000,000 bytes each.
    /// - Parameter count: the number of gigabytes.
    public static func gigabytes(_ count: Int) -> ByteCount { scaled(count, 1_000_000_000) }

    /// A limit that is never reached, because no machine has that much memory.
    public static let unlimited = ByteCount(.max)

    /// Compares the numbers of bytes.
    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }

    private static func scaled(_ count: Int, _ unit: Int) -> ByteCount {
        let (product, overflow) = count.multipliedReportingOverflow(by: unit)
        return ByteCount(overflow ? .max : product)
    }

    /// The count with a single decimal in the largest unit that fits, such as `2.5 MB`.
    public var description: String {
        if self == .unlimited { return "unlimited" }
        for (size, unit) in [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")] where bytes.magnitude >= size {
            let tenths = (Double(bytes) / Double(size) * 10).rounded() / 10
            return "\(tenths) \(unit)"
        }
        return "\(bytes) B"
    }
}
