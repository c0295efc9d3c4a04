/// A set of corners of an image.
public struct ImageCorners: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let topLeft = ImageCorners(rawValue: 1 << 0)
    public static let topRight = ImageCorners(rawValue: 1 << 1)
    public static let bottomRight = ImageCorners(rawValue: 1 << 2)
    public static let bottomLeft = ImageCorners(rawValue: 1 << 3)
    public static let top: ImageCorners = [.topLeft, .topRight]
    public static let bottom: ImageCorners = [.bottomLeft, .bottomRight]
    public static let all: ImageCorners = [.top, .bottom]
}
