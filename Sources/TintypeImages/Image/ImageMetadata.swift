public import FoundationEssentials

/// The unchanged metadata blocks of a file, in formats that other programs read, too. `fields` has their contents, such as the capture
/// date.
///
/// Coders skip blocks of more than 4 MB.
public struct ImageMetadata: Sendable, Hashable, Codable {
    /// The Exif block, beginning with its TIFF header.
    public var exif: Data?
    /// The XMP packet.
    public var xmp: Data?
    /// The datasets of IPTC-IIM, which are read and never written.
    public var iptc: Data?
    /// The MD5 of the datasets when a program last wrote the same into XMP, 16 bytes (resource 1061 of Photoshop); `nil` if no program
    /// has stated that.
    package var iptcDigest: Data?

    /// Creates metadata. Each parameter sets the property of the same name.
    public init(exif: Data? = nil, xmp: Data? = nil, iptc: Data? = nil) {
        self.exif = exif
        self.xmp = xmp
        self.iptc = iptc
    }

    /// The size of the largest block that readers keep.
    package static let maximumBlockBytes = 4 << 20

    /// The size of all blocks.
    package var byteCount: Int { blocks.reduce(0) { $0 + $1.count } }

    /// True if readers would keep every block.
    package var isBounded: Bool { blocks.allSatisfy { $0.count <= Self.maximumBlockBytes } }

    private var blocks: [Data] { [exif, xmp, iptc, iptcDigest].compactMap(\.self) }
}
