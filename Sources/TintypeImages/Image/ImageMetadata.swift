public import FoundationEssentials

/// The metadata of a file, unchanged.
public struct ImageMetadata: Sendable, Equatable {
    /// The Exif block, starting with its TIFF header.
    public var exif: Data?
    /// The XMP packet.
    public var xmp: Data?

    /// Creates metadata. Each parameter sets the property of the same name.
    public init(exif: Data? = nil, xmp: Data? = nil) {
        self.exif = exif
        self.xmp = xmp
    }
}
