internal import FoundationEssentials
internal import TintypeImages

/// The few properties of an XMP packet that pixels depend on (XMP, part 2, sections 2.9 and 2.10).
///
/// Not a parser of XML: the digits behind a property's name, and behind `="` or `>`, count.
enum XMPPacket {
    /// The properties that state the width and the height, in pixels.
    private static let widths = ["tiff:ImageWidth", "exif:PixelXDimension"]
    private static let heights = ["tiff:ImageLength", "exif:PixelYDimension"]

    /// Returns the places of a property's values, which consist of digits.
    static func values(of name: String, in bytes: UnsafeRawBufferPointer) -> [Range<Int>] {
        let name = Array(name.utf8)
        var values: [Range<Int>] = []
        var rest = bytes[...]
        while let start = rest.firstRange(of: name) {
            let value = rest[start.upperBound...].prefix(16).drop { "= \"'>\n\t".utf8.contains($0) }
                .prefix { (0x30...0x39).contains($0) }
            if !value.isEmpty, value.startIndex > start.upperBound { values.append(value.startIndex..<value.endIndex) }
            rest = rest[start.upperBound...]
        }
        return values
    }

    /// Returns a packet that states an upright orientation and a size wherever it states any.
    static func upright(_ packet: Data, size: PixelSize) -> Data {
        let names = [("tiff:Orientation", 1)] + widths.map { ($0, size.width) } + heights.map { ($0, size.height) }
        let changes = packet.withUnsafeBytes { bytes in
            names.flatMap { name, number in values(of: name, in: bytes).map { ($0, number) } }
        }
        var result = Data(packet)
        // From the end on, so that places before a change stay where they are.
        for (place, number) in changes.sorted(by: { $0.0.lowerBound > $1.0.lowerBound }) {
            result.replaceSubrange(place, with: Data("\(number)".utf8))
        }
        return result
    }
}
