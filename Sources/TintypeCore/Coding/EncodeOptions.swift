/// How an image is to be written.
public struct EncodeOptions: Sendable, Hashable {
    /// From 0, smallest, to 1, best. Formats without loss ignore it. The default is 0.85.
    public var quality = 0.85
    /// Writes WebP without loss.
    public var lossless = false
    /// Writes JPEG in progressive scans, PNG interlaced.
    public var progressive = false
    /// The most bytes that the file may have. A format with loss is tried at lower quality until it fits.
    public var maximumBytes: Int?
    /// The box in pixels that the image is shrunk into before it is written.
    public var maximumSize: PixelSize?
    /// Writes only the first frame of an animation.
    public var firstFrameOnly = false
    /// What transparent pixels are laid on in a format that has no alpha.
    public var background = Background.white

    /// Whether an image of high dynamic range is written as such. Without, and in formats that have no such range, it is
    /// tone-mapped: see ``HDREncoding``. Images of standard range are written the same in either case.
    public var encodeToHDR = HDREncoding.none

    /// How an image of high dynamic range is written. Gain maps are not supported.
    public enum HDREncoding: String, Sendable, Hashable, CaseIterable {
        /// Within the range of sRGB: highlights are rolled off as when PQ is decoded to 8 bits (ITU-R BT.2390, 5.4.1).
        case none
        /// PQ with the primaries of BT.2020 (ITU-R BT.2100; ISO 22028-5), in AVIF, HEIC and JPEG XL. Reference white is 203 nits.
        case isoHDR
    }

    /// An opaque colour in sRGB.
    public struct Background: Sendable, Hashable {
        public var red: UInt8, green: UInt8, blue: UInt8
        public init(red: UInt8, green: UInt8, blue: UInt8) {
            self.red = red
            self.green = green
            self.blue = blue
        }
        public static let white = Background(red: 255, green: 255, blue: 255)
        public static let black = Background(red: 0, green: 0, blue: 0)
    }

    public init(quality: Double = 0.85, maximumBytes: Int? = nil) {
        self.quality = quality
        self.maximumBytes = maximumBytes
    }
}
