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
