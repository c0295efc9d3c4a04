internal import FoundationEssentials
internal import TintypeImages

extension Orientation {
    /// The orientation that a file's metadata states: Exif first, and XMP where Exif says nothing. Upright if neither does.
    init(exif: Data?, xmp: Data?) {
        self =
            exif.flatMap { $0.withUnsafeBytes { Orientation(exif: $0) } }
            ?? xmp.flatMap { Orientation(xmp: $0) } ?? .up
    }

    /// The orientation in an Exif block, from its TIFF header on (Exif 2.32, section 4.5.2; TIFF 6.0, section 2).
    ///
    /// `nil` if it is missing or makes no sense: a picture on its side is better than none.
    init?(exif bytes: UnsafeRawBufferPointer) {
        guard let reader = ExifReader(bytes), let entry = reader.orientationEntries.first else { return nil }
        let value = entry + 8
        let number: Int?
        switch reader.short(entry + 2) {
        case ExifType.short: number = reader.short(value)
        // Some writers store a LONG.
        case ExifType.long: number = reader.long(value)
        // With any other type, a number of two, four, or one byte that makes sense.
        default:
            let byte = value < bytes.count ? Int(bytes[value]) : nil
            number = [reader.short(value), reader.long(value), byte].compactMap(\.self).first {
                Orientation(rawValue: $0) != nil
            }
        }
        guard let number else { return nil }
        self.init(rawValue: number)
    }

    /// The orientation in an XMP packet, `tiff:Orientation` as an attribute or an element (XMP, part 2, section 2.9).
    init?(xmp packet: Data) {
        let text = XMPPacket(packet.prefix(1 << 16)).text(of: .orientation)
        guard let number = text.flatMap({ MetadataText.decoded($0) }).flatMap({ Int($0) }) else { return nil }
        self.init(rawValue: number)
    }
}
