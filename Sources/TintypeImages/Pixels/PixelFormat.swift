/// The memory layout of a pixel: always red, green, blue, alpha, with color premultiplied by alpha.
public enum PixelFormat: String, Sendable, Hashable, Codable, CaseIterable {
    /// Four bytes, as used by GTK, cairo and the encoders.
    case rgba8
    /// Four 16-bit integers in native byte order, for sources of more than 8 bits.
    case rgba16
    /// Four 16-bit floating-point numbers (IEEE 754 binary16), for high dynamic range: 1.0 is SDR white. Alpha is from 0 to 1.
    /// Color is premultiplied too, and may be above alpha or below 0. See ``ColorSpace/extendedSRGB``.
    case rgbaFloat16

    /// The number of bits per component: 8 or 16.
    public var bitsPerComponent: Int { self == .rgba8 ? 8 : 16 }
    /// The number of bytes per pixel: 4 or 8.
    public var bytesPerPixel: Int { self == .rgba8 ? 4 : 8 }
}
