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

    /// sRGB beyond its range: 0 to 1 are the numbers of sRGB, and its curve goes on above 1, which is the white of a display of
    /// standard range, and point-symmetrically below 0, for colours outside its gamut. The numbers are not linear: light `x`
    /// is `sign(x) × curve(|x|)`, as IEC 61966-2-2 (scRGB) and browsers' extended sRGB have it.
    ///
    /// Pixels of ``PixelFormat/rgbaFloat16`` are in this space. What has no more than sRGB's range may be shown as it is; white
    /// of 203 nits (ITU-R BT.2408) is 1, 1,000 nits are 2.0, and the most that PQ has, 10,000 nits, is 5.3.
    public static let extendedSRGB = ColorSpace(name: "extended sRGB", profile: nil)

    public var description: String { name }
}
