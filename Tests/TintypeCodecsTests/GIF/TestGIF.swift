import FoundationEssentials

/// Writes GIF files byte by byte, also wrong ones.
struct TestGIF {
    private(set) var bytes: [UInt8]
    /// Red, green, blue, and a fourth color for the transparent index.
    static let colors: [UInt8] = [255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9]

    init(_ width: Int, _ height: Int, palette: [UInt8]? = TestGIF.colors) {
        bytes = Array("GIF89a".utf8)
        add16(width, height)
        bytes += [Self.flags(palette), 0, 0] + (palette ?? [])
    }

    var data: Data { Data(bytes + [0x3B]) }
    /// The bytes without the trailer.
    var unfinished: Data { Data(bytes) }

    mutating func loop(_ count: Int, name: String = "NETSCAPE2.0") {
        bytes += [0x21, 0xFF, 11] + Array(name.utf8) + [3, 1]
        add16(count)
        bytes.append(0)
    }

    mutating func frame(
        _ rect: (x: Int, y: Int, width: Int, height: Int), _ indices: [UInt8], delay: Int? = nil, disposal: Int = 0,
        transparent: UInt8? = nil, interlaced: Bool = false, palette: [UInt8]? = nil, codes: [UInt8]? = nil
    ) {
        if delay != nil || disposal != 0 || transparent != nil {
            bytes += [0x21, 0xF9, 4, UInt8(disposal << 2) | (transparent == nil ? 0 : 1)]
            add16(delay ?? 0)
            bytes += [transparent ?? 0, 0]
        }
        bytes.append(0x2C)
        add16(rect.x, rect.y, rect.width, rect.height)
        bytes += [Self.flags(palette) | (interlaced ? 0x40 : 0)] + (palette ?? [])
        bytes += [8]
        let codes = codes ?? Self.codes(indices)
        for start in stride(from: 0, to: codes.count, by: 255) {
            let block = codes[start..<min(start + 255, codes.count)]
            bytes += [UInt8(block.count)] + block
        }
        bytes.append(0)
    }

    mutating func raw(_ more: [UInt8]) { bytes += more }

    /// LZW that never uses its dictionary: 9 bits a code, cleared before the codes would grow.
    static func codes(_ indices: [UInt8]) -> [UInt8] {
        var codes: [Int] = []
        for (place, index) in indices.enumerated() {
            if place % 250 == 0 { codes.append(256) }
            codes.append(Int(index))
        }
        return pack(codes + [257])
    }

    /// Codes of 9 bits each, lowest bits first.
    static func pack(_ codes: [Int]) -> [UInt8] {
        var packed = [UInt8](repeating: 0, count: (codes.count * 9 + 7) / 8)
        for (place, code) in codes.enumerated() {
            for bit in 0..<9 where code >> bit & 1 != 0 {
                packed[(place * 9 + bit) / 8] |= 1 << ((place * 9 + bit) % 8)
            }
        }
        return packed
    }

    private static func flags(_ palette: [UInt8]?) -> UInt8 {
        guard let palette else { return 0 }
        return 0x80 | UInt8((palette.count / 3).trailingZeroBitCount - 1)
    }

    private mutating func add16(_ values: Int...) {
        for value in values { bytes += [UInt8(value & 0xFF), UInt8(value >> 8)] }
    }
}
