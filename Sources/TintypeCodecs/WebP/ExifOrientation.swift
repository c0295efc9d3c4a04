internal import FoundationEssentials
internal import TintypeCore

/// The orientation in an Exif block (Exif 2.32, section 4.6.2: a TIFF header and its first directory).
enum ExifOrientation {
    static func read(_ exif: Data) -> Orientation? {
        let bytes = [UInt8](exif.prefix(1 << 16))
        guard bytes.count >= 8 else { return nil }
        let isLittle = bytes[0] == 0x49
        guard isLittle ? bytes[1] == 0x49 : bytes[0] == 0x4D && bytes[1] == 0x4D else { return nil }
        func number(at offset: Int, _ count: Int) -> Int? {
            guard offset >= 0, offset + count <= bytes.count else { return nil }
            let part = bytes[offset..<offset + count]
            return isLittle ? part.reversed().reduce(0) { $0 << 8 | Int($1) } : part.reduce(0) { $0 << 8 | Int($1) }
        }
        guard let directory = number(at: 4, 4), let entries = number(at: directory, 2) else { return nil }
        for entry in 0..<entries {
            let place = directory + 2 + 12 * entry
            guard let tag = number(at: place, 2) else { return nil }
            if tag == 0x0112 { return number(at: place + 8, 2).flatMap(Orientation.init(rawValue:)) }
        }
        return nil
    }
}
