internal import TintypeCore

extension Orientation {
    /// The orientation that an Exif block states, from its TIFF header on (Exif 2.32, section 4.5.2; TIFF 6.0, section 2).
    ///
    /// Anything that is missing or makes no sense means upright: a picture on its side is better than none.
    init(exif bytes: UnsafeRawBufferPointer) {
        let isLittleEndian: Bool
        switch (bytes.bigEndian16(at: 0), bytes.bigEndian16(at: 2)) {
        case (0x4949, 0x2A00): isLittleEndian = true
        case (0x4D4D, 0x002A): isLittleEndian = false
        default:
            self = .up
            return
        }
        func short(_ offset: Int) -> Int? {
            bytes.bigEndian16(at: offset).map { isLittleEndian ? Int(UInt16($0).byteSwapped) : $0 }
        }
        func long(_ offset: Int) -> Int? {
            bytes.bigEndian32(at: offset).map { isLittleEndian ? Int(UInt32($0).byteSwapped) : $0 }
        }
        self = .up
        guard let directory = long(4), let entries = short(directory) else { return }
        for entry in 0..<entries {
            // 12 bytes: tag, type, count, and the value itself where it fits into four bytes.
            let offset = directory + 2 + entry * 12
            guard let tag = short(offset), let type = short(offset + 2) else { return }
            guard tag == 0x0112 else { continue }
            // A SHORT; some writers store a LONG.
            let value = type == 4 ? long(offset + 8) : short(offset + 8)
            self = value.flatMap(Orientation.init(rawValue:)) ?? .up
            return
        }
    }
}
