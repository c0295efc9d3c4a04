/// A set of corners of an image.
public struct ImageCorners: OptionSet, Sendable, Hashable {
    /// The bits of the corners.
    public let rawValue: UInt8
    /// Creates a set from the bits of corners.
    /// - Parameter rawValue: the bits of the corners.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The upper left corner.
    public static let topLeft = ImageCorners(rawValue: 1 << 0)
    /// The upper right corner.
    public static let topRight = ImageCorners(rawValue: 1 << 1)
    /// The lower right corner.
    public static let bottomRight = ImageCorners(rawValue: 1 << 2)
    /// The lower left corner.
    public static let bottomLeft = ImageCorners(rawValue: 1 << 3)
    /// All four corners.
    public static let all: ImageCorners = [.topLeft, .topRight, .bottomRight, .bottomLeft]
}
