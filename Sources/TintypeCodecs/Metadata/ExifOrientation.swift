internal import FoundationEssentials
internal import TintypeImages

extension Orientation {
    /// The orientation that a file's metadata states: Exif first, and XMP where Exif says nothing. Upright if neither does.
    init(exif: Data?, xmp: Data?) {
        self =
            exif.flatMap { $0.withUnsafeBytes { Orientation(exif: $0) } }
            ?? xmp.flatMap { $0.withUnsafeBytes { Orientation(xmp: $0) } } ?? .up
    }

    /// The orientation in an Exif block, from its TIFF header on (Exif 2.32, section 4.5.2; TIFF 6.0, section 2).
    ///
    /// `nil` if it is missing or makes no sense: a picture on its side is better than none.
    init?(exif bytes: UnsafeRawBufferPointer) {
        let isLittleEndian: Bool
        switch (bytes.bigEndian16(at: 0), bytes.bigEndian16(at: 2)) {
        case (0x4949, 0x2A00): isLittleEndian = true
        case (0x4D4D, 0x002A): isLittleEndian = false
        default: return nil
        }
        func short(_ offset: Int) -> Int? {
            bytes.bigEndian16(at: offset).map { isLittleEndian ? Int(UInt16($0).byteSwapped) : $0 }
        }
        func long(_ offset: Int) -> Int? {
            bytes.bigEndian32(at: offset).map { isLittleEndian ? Int(UInt32($0).byteSwapped) : $0 }
        }
        guard let directory = long(4), let entries = short(directory) else { return nil }
        for entry in 0..<entries {
            // 12 bytes: tag, type, count, and the value itself where it fits into four bytes.
            let offset = directory + 2 + entry * 12
            guard let tag = short(offset), let type = short(offset + 2) else { return nil }
            guard tag == 0x0112 else { continue }
            // A SHORT; some writers store a LONG.
            guard let value = type == 4 ? long(offset + 8) : short(offset + 8) else { return nil }
            self.init(rawValue: value)
            return
        }
        return nil
    }

    /// The orientation in an XMP packet, `tiff:Orientation` as an attribute or an element (XMP, part 2, section 2.9).
    init?(xmp bytes: UnsafeRawBufferPointer) {
        let packet = UnsafeRawBufferPointer(rebasing: bytes.prefix(1 << 16))
        guard let place = XMPPacket.values(of: "tiff:Orientation", in: packet).first, place.count == 1 else {
            return nil
        }
        self.init(rawValue: Int(packet[place.lowerBound]) - 0x30)
    }
}
