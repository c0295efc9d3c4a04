public import FoundationEssentials

/// The meaning of the components of a pixel.
public struct ColorSpace: Hashable, Sendable, Codable {
    /// A human-readable name: `sRGB`, or the name in the profile.
    public let name: String
    /// The ICC profile (ICC.1), or `nil` for sRGB.
    public let profile: Data?

    /// Creates a color space. Each parameter sets the property of the same name.
    public init(name: String, profile: Data?) {
        self.name = name
        self.profile = profile
    }

    /// The color space of IEC 61966-2-1. Every image is converted to it unless its options keep the source's color space.
    public static let sRGB = ColorSpace(name: "sRGB", profile: nil)

    /// The colors of sRGB with an extended range: components from 0 to 1 equal sRGB's. The curve continues above 1, the white of a
    /// standard display, and point-symmetrically below 0, for colors outside the gamut of sRGB. The components are not linear:
    /// light `x` is encoded as `sign(x) × curve(|x|)`, as in IEC 61966-2-2 (scRGB) and in browsers' extended sRGB.
    ///
    /// Pixels of ``PixelFormat/rgbaFloat16`` are in this space. Components from 0 to 1 can be shown as they are. White of 203
    /// nits (ITU-R BT.2408) is 1, 1,000 nits are 2.0, and the maximum of PQ, 10,000 nits, is 5.3.
    public static let extendedSRGB = ColorSpace(name: "extended sRGB", profile: nil)
}
