import Foundation

/// Writes JPEG files of one color, of any number of components: what no encoder of this project writes.
///
/// Baseline, all quantisers 1, each block its mean alone.
struct HandmadeJPEG {
    var width = 8
    var height = 8
    /// One value for each component: gray; Y, Cb, Cr; or four inks.
    var values: [UInt8]
    /// Segments between SOI and the tables, such as those of applications.
    var segments: [(marker: UInt8, contents: [UInt8])] = []

    /// Adobe's marker with its code for the transform: 0 for plain CMYK, 2 for YCCK.
    static func adobe(transform: UInt8) -> (marker: UInt8, contents: [UInt8]) {
        (0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, transform])
    }

    var data: Data {
        var file: [UInt8] = [0xFF, 0xD8]
        func append(_ marker: UInt8, _ contents: [UInt8]) {
            let length = contents.count + 2
            file += [0xFF, marker, UInt8(length >> 8), UInt8(length & 0xFF)] + contents
        }
        for segment in segments { append(segment.marker, segment.contents) }
        append(0xDB, [0] + [UInt8](repeating: 1, count: 64))
        // Sixteen codes of 4 bits would leave none free, so there are the twelve sizes of a difference, 0 to 11.
        append(0xC4, [0, 0, 0, 0, 12] + [UInt8](repeating: 0, count: 12) + [UInt8](0...11))
        // One code of 1 bit: the end of the block.
        append(0xC4, [0x10, 1] + [UInt8](repeating: 0, count: 15) + [0])
        let sides = [UInt8(height >> 8), UInt8(height & 0xFF), UInt8(width >> 8), UInt8(width & 0xFF)]
        let components = values.indices.flatMap { index -> [UInt8] in [UInt8(index + 1), 0x11, 0] }
        append(0xC0, [8] + sides + [UInt8(values.count)] + components)
        let selectors = values.indices.flatMap { index -> [UInt8] in [UInt8(index + 1), 0] }
        append(0xDA, [UInt8(values.count)] + selectors + [0, 63, 0])
        file += scan + [0xFF, 0xD9]
        return Data(file)
    }

    private var scan: [UInt8] {
        var bits: [Bool] = []
        func append(_ value: Int, _ count: Int) {
            for bit in (0..<count).reversed() { bits.append(value >> bit & 1 == 1) }
        }
        let blocks = ((width + 7) / 8) * ((height + 7) / 8)
        for block in 0..<blocks {
            for value in values {
                let difference = block == 0 ? (Int(value) - 128) * 8 : 0
                let size = Int.bitWidth - abs(difference).leadingZeroBitCount
                append(size, 4)
                append(difference < 0 ? difference + (1 << size) - 1 : difference, size)
                append(0, 1)
            }
        }
        while bits.count % 8 != 0 { bits.append(true) }
        return stride(from: 0, to: bits.count, by: 8).flatMap { start -> [UInt8] in
            let byte = bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
            return byte == 0xFF ? [0xFF, 0] : [byte]
        }
    }
}

extension Data {
    /// A JPEG with one more segment right behind its beginning.
    func addingSegment(_ marker: UInt8, _ contents: [UInt8]) -> Data {
        let length = contents.count + 2
        return prefix(2) + [0xFF, marker, UInt8(length >> 8), UInt8(length & 0xFF)] + contents + dropFirst(2)
    }
}
