public import FoundationEssentials

/// What a file says of its image beside the pixels, as it stood there.
public struct ImageMetadata: Sendable, Equatable {
    /// The Exif block (from its TIFF header on).
    public var exif: Data?
    /// The XMP packet.
    public var xmp: Data?

    public init(exif: Data? = nil, xmp: Data? = nil) {
        self.exif = exif
        self.xmp = xmp
    }
}
