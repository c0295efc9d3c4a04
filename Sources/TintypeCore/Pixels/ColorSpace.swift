public import FoundationEssentials

/// What the numbers of a pixel mean.
public struct ColorSpace: Hashable, Sendable, CustomStringConvertible {
    /// A name for people: `sRGB`, or what the profile calls itself.
    public let name: String
    /// The ICC profile (ICC.1), or `nil` for sRGB.
    public let profile: Data?

    public init(name: String, profile: Data?) {
        self.name = name
        self.profile = profile
    }

    /// IEC 61966-2-1, which every image is converted to unless its options keep the source's space.
    public static let sRGB = ColorSpace(name: "sRGB", profile: nil)

    public var description: String { name }
}
