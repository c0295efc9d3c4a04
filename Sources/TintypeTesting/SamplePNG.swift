internal import FoundationEssentials
internal import TintypeLoading

/// Writes PNG files of kinds that Tintype reads but does not write: gray, with a palette, or with 16 bits.
///
/// The pixels are stored without compression (RFC 1951, section 3.2.4), which keeps the writer small.
enum SamplePNG {
    enum ColorType: UInt8 {
        case gray = 0
        case rgb = 2
        case palette = 3
    }

    /// Returns the contents of a file.
    /// - Parameters:
    ///   - palette: the colors of a palette, three bytes each.
    ///   - row: the bytes of a row, in the layout of the color type and depth.
    static func file(
        _ size: PixelSize, depth: UInt8, color: ColorType, palette: [UInt8] = [], row: (Int) -> [UInt8]
    ) -> Data {
        var file = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        append("IHDR", bigEndian(size.width) + bigEndian(size.height) + [depth, color.rawValue, 0, 0, 0], to: &file)
        if !palette.isEmpty { append("PLTE", palette, to: &file) }
        append("IDAT", zlib((0..<size.height).flatMap { [0] + row($0) }), to: &file)
        append("IEND", [], to: &file)
        return file
    }

    private static func append(_ type: String, _ contents: [UInt8], to file: inout Data) {
        let checked = Array(type.utf8) + contents
        file.append(contentsOf: bigEndian(contents.count) + checked + bigEndian(Int(crc(checked))))
    }

    static func bigEndian(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    private static func zlib(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = [0x78, 0x01]
        var a = 1
        var b = 0
        var start = 0
        repeat {
            let end = min(start + 65_535, bytes.count)
            let length = UInt16(end - start)
            let isLast: UInt8 = end == bytes.count ? 1 : 0
            result += [isLast, UInt8(length & 255), UInt8(length >> 8), UInt8(~length & 255), UInt8(~length >> 8)]
            result += bytes[start..<end]
            start = end
        } while start < bytes.count
        for byte in bytes {
            a = (a + Int(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return result + bigEndian(b << 16 | a)
    }

    private static let crcTable: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { crcTable[Int(($0 ^ UInt32($1)) & 255)] ^ $0 >> 8 }
    }
}
