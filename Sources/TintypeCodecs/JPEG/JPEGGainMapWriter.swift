internal import FoundationEssentials
internal import TintypeImages

/// Writes a JPEG file with a gain map behind it.
///
/// The image says that there is one in three ways, since readers know one or the other: an index of pictures (CIPA DC-007), a segment of ISO 21496-1,
/// annex C, and XMP (Ultra HDR Image Format, version 1), which is added to the source's own packet.
struct JPEGGainMapWriter {
    let map: GainMapPicture
    let job: EncodeJob

    private static let app1: Int32 = 0xE1
    private static let app2: Int32 = 0xE2
    private static let urn = Data("urn:iso:std:iso:ts:21496:-1\0".utf8)
    private static let xmpSignature = JPEGMetadataSegments.xmpSignature

    /// - Parameter segments: the segments of the image's metadata.
    /// - Returns: `nil` if the file became larger than the options allow.
    func write(quality: Int, segments: [(marker: Int32, contents: Data)]) throws(ImageError) -> Data? {
        let gains = Image(pixels: map.pixels).with { $0.hasAlpha = false }
        guard
            let second = try JPEGWriter().write(
                gains, quality: quality, job.options,
                segments: [(Self.app1, Self.xmpSignature + xmp), (Self.app2, Self.urn + map.parameters.iso)],
                isGray: true, context: job.context)
        else { return nil }
        // The packet of the source has none of these descriptions left.
        let directory = Self.directory(length: second.count)
        let packet = job.xmp.flatMap { XMPPacket($0).adding(description: directory) } ?? Self.packet(directory)
        var own = segments
        // Where there is no room, the index and the standard's segment state the map too.
        if let segment = try? JPEGMetadataSegments.segment(xmp: packet, job) {
            own.removeAll { $0.contents.starts(with: Self.xmpSignature) }
            own.append(segment)
        }
        // Only the versions: the parameters are in the map.
        own += [(Self.app2, Self.urn + Data(count: 4)), (Self.app2, Self.index)]
        guard
            var file = try JPEGWriter().write(
                job.image, quality: quality, job.options, profile: job.profile, segments: own, context: job.context)
        else { return nil }
        let place = try file.withBytes { bytes throws(ImageError) in JPEGSegments(bytes).pictureIndex?.lowerBound }
        guard let place else { throw job.failure("the index of the gain map is missing") }
        // Sizes and offsets from the beginning of the index are known now.
        for (field, value) in [(54, file.count), (70, second.count), (74, file.count - place)] {
            let start = file.startIndex + place + field
            file.replaceSubrange(start..<start + 4, with: BigEndian.bytes(value, 4))
        }
        return file + second
    }

    // MARK: Index of pictures

    /// An index of two pictures, whose sizes and offset are zero as yet.
    private static let index: Data = {
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
            BigEndian.bytes(tag, 2) + BigEndian.bytes(type, 2) + BigEndian.bytes(count, 4) + value
        }
        // The header has 8 bytes, the directory 2 + 3 × 12 + 4.
        let fields =
            entry(0xB000, 7, 4, Array("0100".utf8)) + entry(0xB001, 4, 1, BigEndian.bytes(2, 4))
            + entry(0xB002, 7, 32, BigEndian.bytes(50, 4))
        // The first is the primary picture, and the second of no defined kind.
        let pictures = BigEndian.bytes(0x03_0000, 4) + BigEndian.bytes(0, 28)
        return Data(
            Array("MPF\0MM\0*".utf8) + BigEndian.bytes(8, 4) + BigEndian.bytes(3, 2) + fields + BigEndian.bytes(0, 4)
                + pictures)
    }()

    // MARK: XMP

    private static func packet(_ description: String) -> Data {
        Data(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            \(description)</rdf:RDF></x:xmpmeta>
            """.utf8)
    }

    /// A description of the picture, which binds its prefixes itself: another packet may have others. It doesn't say what it is about, because
    /// all descriptions of a packet would have to say the same (XMP, part 1, section 7.4).
    /// - Parameter contents: More attributes, and the end of the element.
    private static func description(_ contents: String) -> String {
        """
        <rdf:Description xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" \
        xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0" \(contents)
        """
    }

    /// The parameters of the map.
    private var xmp: Data {
        let (parameters, channel) = (map.parameters, map.parameters.channels[0])
        return Self.packet(
            Self.description(
                """
                hdrgm:GainMapMin="\(channel.minimum)" hdrgm:GainMapMax="\(channel.maximum)" hdrgm:Gamma="\(channel.gamma)" \
                hdrgm:OffsetSDR="\(channel.baseOffset)" hdrgm:OffsetHDR="\(channel.alternateOffset)" \
                hdrgm:HDRCapacityMin="\(parameters.baseHeadroom)" hdrgm:HDRCapacityMax="\(parameters.alternateHeadroom)" \
                hdrgm:BaseRenditionIsHDR="False"/>
                """))
    }

    /// The statement of the image that a map of a length follows it.
    private static func directory(length: Int) -> String {
        let attributes = "Item:Mime=\"image/jpeg\""
        return description(
            """
            xmlns:Container="http://ns.google.com/photos/1.0/container/" \
            xmlns:Item="http://ns.google.com/photos/1.0/container/item/"><Container:Directory><rdf:Seq>\
            <rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="Primary" \(attributes)/></rdf:li>\
            <rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="GainMap" \(attributes) \
            Item:Length="\(length)"/></rdf:li></rdf:Seq></Container:Directory></rdf:Description>
            """)
    }
}
