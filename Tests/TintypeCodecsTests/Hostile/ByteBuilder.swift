import Foundation

/// Bytes of crafted files, made of numbers and letters.
enum ByteBuilder {
    static func big(_ value: Int, _ bytes: Int = 4) -> Data {
        Data((0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
    }

    static func little(_ value: Int, _ bytes: Int) -> Data {
        Data((0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
    }

    static func repeated(_ part: Data, _ count: Int) -> Data {
        var data = Data(capacity: part.count * count)
        for _ in 0..<count { data += part }
        return data
    }

    /// A zlib stream (RFC 1950) of zeros: one literal, and then copies of 258 bytes, in one block of fixed codes (RFC 1951, section 3.2.6).
    static func deflatedZeros(_ count: Int) -> Data {
        var stream = BitWriter()
        stream.add(0b011, 3)
        let copies = max(0, count - 1) / 258
        for _ in 0..<count - copies * 258 { stream.add(0b0000_1100, 8) }
        // The code of length 258, and that of distance 1.
        for _ in 0..<copies { stream.add(0b0_0000_1010_0011, 13) }
        stream.add(0, 7)
        // The checksum of zeros: the first sum stays one, the second counts.
        return Data([0x78, 0x01]) + stream.finished() + big((count % 65_521) << 16 | 1)
    }

    /// Bits in the order of Deflate: the lowest first.
    private struct BitWriter {
        private var bytes: [UInt8] = []
        private var pending: UInt32 = 0
        private var count: UInt32 = 0

        mutating func add(_ bits: UInt32, _ number: UInt32) {
            pending |= bits << count
            count += number
            while count >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: pending))
                pending >>= 8
                count -= 8
            }
        }

        func finished() -> Data { Data(bytes + (count > 0 ? [UInt8(truncatingIfNeeded: pending)] : [])) }
    }

    private static let crcTable: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    /// A chunk of PNG.
    static func chunk(_ type: String, _ contents: Data) -> Data {
        let body = Data(type.utf8) + contents
        let crc = body.reduce(~UInt32(0)) { crcTable[Int(($0 ^ UInt32($1)) & 0xFF)] ^ ($0 >> 8) }
        return big(contents.count) + body + big(Int(~crc))
    }

    /// A chunk of RIFF.
    static func riff(_ type: String, _ contents: Data) -> Data {
        Data(type.utf8) + little(contents.count, 4) + contents + (contents.count % 2 == 0 ? Data() : Data([0]))
    }

    /// A box of ISO media.
    static func box(_ type: String, _ parts: Data...) -> Data {
        let contents = parts.reduce(Data(), +)
        return big(8 + contents.count) + Data(type.utf8) + contents
    }
}
