internal import FoundationEssentials
internal import TintypeImages

extension ImageMetadata.Fields {
    /// The fields in datasets of IPTC-IIM (IPTC-NAA Information Interchange Model, version 4.2, record 2).
    init(iptc datasets: Data) {
        self.init()
        var texts: [UInt8: [String]] = [:]
        datasets.withUnsafeBytes { bytes in
            var offset = 0
            // A marker, the record, the dataset, and its length. Lengths over 32,767 have another form, which no text of this record needs.
            while offset + 5 <= bytes.count, bytes[offset] == 0x1C, let length = bytes.bigEndian16(at: offset + 3) {
                let value = offset + 5..<offset + 5 + length
                guard length < 0x8000, value.upperBound <= bytes.count else { return }
                if bytes[offset + 1] == 2, let text = MetadataText.decoded(bytes[value]) {
                    texts[bytes[offset + 2], default: []].append(text)
                }
                offset = value.upperBound
            }
        }
        title = texts[5]?.first
        keywords = texts[25] ?? []
        authors = texts[80] ?? []
        copyright = texts[116]?.first
        description = texts[120]?.first
        // The dates and times of the original, and of its digital form.
        for (date, time) in [(55, 60), (62, 63)] as [(UInt8, UInt8)] where captureDate == nil {
            captureDate = texts[date]?.first.flatMap { DateComponents(metadata: $0 + (texts[time]?.first ?? "")) }
        }
    }
}

extension ImageMetadata {
    /// Takes the datasets of IPTC-IIM, and the digest that says when XMP had the same, out of the image resources of Photoshop (Adobe
    /// Photoshop File Formats Specification, "Image Resource Blocks").
    mutating func readIPTC(fromPhotoshop resources: Data) {
        resources.withUnsafeBytes { readIPTC(fromPhotoshop: $0) }
    }

    mutating func readIPTC(fromPhotoshop bytes: UnsafeRawBufferPointer) {
        var offset = 0
        while offset + 12 <= bytes.count, bytes[offset..<offset + 4].elementsEqual("8BIM".utf8) {
            // The number of the resource, a name behind its length, and the length of the contents, all of them padded to an even length.
            let sizePlace = offset + 6 + (Int(bytes[offset + 6]) + 2) / 2 * 2
            guard let number = bytes.bigEndian16(at: offset + 4), let size = bytes.bigEndian32(at: sizePlace),
                sizePlace + 4 + size <= bytes.count
            else { return }
            let contents = sizePlace + 4..<sizePlace + 4 + size
            switch number {
            case 0x0404 where iptc == nil: iptc = bytes.metadataBlock(contents)
            case 0x0425 where size == 16: iptcDigest = bytes.data(contents)
            default: break
            }
            offset = (contents.upperBound - offset + 1) / 2 * 2 + offset
        }
    }
}
