import Foundation
import TintypeImages

@testable import TintypeCodecs

/// Writes PNG files of any depth and color type, and animations, with data that is not compressed.
struct HandmadePNG {
    var width: Int
    var height: Int
    var bitDepth: UInt8 = 8
    var colorType: UInt8
    var isInterlaced = false
    /// Chunks between the header and the data.
    var chunks: [(type: String, contents: [UInt8])] = []
    /// The bytes of the rows, without filters.
    var rows: [[UInt8]]
    /// Chunks behind the data.
    var trailing: [(type: String, contents: [UInt8])] = []
    /// The parts of the data, in place of that of the rows.
    var parts: [[UInt8]]?

    var data: Data {
        var file = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        let header = Self.bytes(width) + Self.bytes(height) + [bitDepth, colorType, 0, 0, isInterlaced ? 1 : 0]
        let pixels = (parts ?? [Self.compressed(rows)]).map { (type: "IDAT", contents: $0) }
        for (type, contents) in [("IHDR", header)] + chunks + pixels + trailing + [("IEND", [])] {
            file += Self.chunk(type, contents)
        }
        return file
    }

    static func bytes(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }

    static func chunk(_ type: String, _ contents: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + contents
        return bytes(contents.count) + body + bytes(Int(crc(body)))
    }

    /// A file of given parts of its data.
    static func file(
        width: Int, height: Int, bitDepth: UInt8, colorType: UInt8,
        chunks: [(type: String, contents: [UInt8])] = [], _ parts: [[UInt8]]
    ) -> Data {
        let header = bytes(width) + bytes(height) + [bitDepth, colorType, 0, 0, 0]
        let all = [("IHDR", header)] + chunks + parts.map { (type: "IDAT", contents: $0) } + [("IEND", [])]
        return Data(PNGChunks.signature + all.flatMap { chunk($0.0, $0.1) })
    }

    /// A zlib stream (RFC 1950) of stored blocks (RFC 1951, section 3.2.4), of rows without filters.
    static func compressed(_ rows: [[UInt8]]) -> [UInt8] { deflated(rows.flatMap { row -> [UInt8] in [0] + row }) }

    /// A zlib stream of stored blocks.
    static func deflated(_ raw: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: raw.count, by: 65_535) {
            let block = raw[start..<min(start + 65_535, raw.count)]
            let length = block.count
            let low = UInt8(length & 0xFF)
            let high = UInt8(length >> 8)
            stream += [start + length == raw.count ? 1 : 0, low, high, ~low, ~high] + block
        }
        var (a, b) = (1, 0)
        for byte in raw {
            a = (a + Int(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return stream + bytes(b << 16 | a)
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        var value: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            value ^= UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
        }
        return ~value
    }
}

/// An animation of frames of one color each, RGBA.
struct HandmadeAnimation: Sendable {
    struct Frame: Sendable {
        var color: SIMD4<UInt8>
        var x = 0
        var y = 0
        var width: Int
        var height: Int
        var milliseconds = 100
        var disposal: UInt8 = 0
        var blend: UInt8 = 0
    }

    var width = 4
    var height = 4
    /// How many frames the file says that it has; those that it has unless told otherwise.
    var announcedFrames: Int?
    var plays = 0
    var frames: [Frame]
    /// The color of a default image that is not a frame.
    var hiddenDefault: SIMD4<UInt8>?
    /// Changes the sequence numbers, to break them.
    var number: @Sendable (Int) -> Int = { $0 }

    var data: Data {
        var file = HandmadePNG(width: width, height: height, colorType: 6, rows: [])
        var sequence = 0
        func next() -> [UInt8] {
            defer { sequence += 1 }
            return HandmadePNG.bytes(number(sequence))
        }
        func control(_ frame: Frame) -> [UInt8] {
            next() + [frame.width, frame.height, frame.x, frame.y].flatMap(HandmadePNG.bytes)
                + [UInt8(frame.milliseconds >> 8), UInt8(frame.milliseconds & 0xFF), 0x03, 0xE8]
                + [frame.disposal, frame.blend]
        }
        func rows(_ color: SIMD4<UInt8>, _ width: Int, _ height: Int) -> [[UInt8]] {
            let pixel = [color.x, color.y, color.z, color.w]
            return Array(repeating: (0..<width).flatMap { _ in pixel }, count: height)
        }
        file.chunks = [("acTL", HandmadePNG.bytes(announcedFrames ?? frames.count) + HandmadePNG.bytes(plays))]
        for (index, frame) in frames.enumerated() {
            if index == 0, hiddenDefault == nil {
                file.chunks.append(("fcTL", control(frame)))
                file.rows = rows(frame.color, width, height)
            } else {
                file.trailing.append(("fcTL", control(frame)))
                let data = HandmadePNG.compressed(rows(frame.color, frame.width, frame.height))
                file.trailing.append(("fdAT", next() + data))
            }
        }
        if let hiddenDefault { file.rows = rows(hiddenDefault, width, height) }
        return file.data
    }
}
