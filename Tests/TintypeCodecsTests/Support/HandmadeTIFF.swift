#if TIFF
import Foundation

/// Little-endian TIFF files of one page, of any samples, without compression or with strips that are compressed already.
struct HandmadeTIFF {
    var width: Int
    var height: Int
    var bits = 8
    /// The number of the compression of all strips: 1 is none, 7 JPEG.
    var compression = 1
    /// 2 for numbers that are differences from the pixel on the left.
    var predictor = 1
    /// Nothing is stated for `nil`.
    var photometric: Int? = 1
    /// The meaning of the samples behind the colors.
    var extras: [Int] = []
    var sampleFormat = 1
    var isPlanar = false
    /// The side of square tiles, a multiple of 16; strips for `nil`.
    var tileSide: Int?
    var rowsPerStrip: Int?
    var profile: Data?
    /// The reds, greens and blues of a palette.
    var palette: [Int] = []
    /// Whether the directory comes before the pixels.
    var directoryIsFirst = false
    /// The smallest and the largest sample as the file states them.
    var extremes: [Float] = []
    /// Whether all strips have the place of the first one.
    var sharesFirstStrip = false
    /// Fields that no reader knows.
    var unknownFields = 0

    init(_ width: Int, _ height: Int) { (self.width, self.height) = (width, height) }

    private func number(_ value: Int, _ bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// The file.
    /// - Parameter pixels: The samples of each pixel, in the order of reading.
    func data(_ pixels: [[Int]]) -> Data {
        let samples = pixels[0].count
        let planes = isPlanar ? (0..<samples).map { [$0] } : [Array(0..<samples)]
        var parts: [[UInt8]] = []
        for plane in planes {
            if let side = tileSide {
                for top in stride(from: 0, to: height, by: side) {
                    for left in stride(from: 0, to: width, by: side) {
                        parts.append(part(pixels, plane, left..<left + side, top..<top + side))
                    }
                }
            } else {
                let rows = rowsPerStrip ?? height
                for top in stride(from: 0, to: height, by: rows) {
                    parts.append(part(pixels, plane, 0..<width, top..<min(height, top + rows)))
                }
            }
        }
        return data(parts: parts, samples: samples)
    }

    /// The file.
    /// - Parameters:
    ///   - parts: The bytes of each strip or tile.
    ///   - samples: The samples of a pixel.
    func data(parts: [[UInt8]], samples: Int) -> Data {
        // The length of the directory does not depend on where the parts are.
        let length = directory(at: 8, parts: parts, start: 0, samples: samples).count
        let header: [UInt8] = [0x49, 0x49, 42, 0]
        var bytes: [UInt8] = sharesFirstStrip ? parts[0] : Array(parts.joined())
        if bytes.count % 2 != 0 { bytes.append(0) }
        if directoryIsFirst {
            return Data(
                header + number(8, 4) + directory(at: 8, parts: parts, start: 8 + length, samples: samples) + bytes)
        }
        let place = 8 + bytes.count
        return Data(header + number(place, 4) + bytes + directory(at: place, parts: parts, start: 8, samples: samples))
    }

    private func part(_ pixels: [[Int]], _ plane: [Int], _ columns: Range<Int>, _ rows: Range<Int>) -> [UInt8] {
        rows.flatMap { y -> [UInt8] in
            let numbers = columns.flatMap { x in
                plane.map { sample in x < width && y < height ? pixels[y * width + x][sample] : 0xAAAA_AAAA }
            }
            return bits % 8 == 0 ? numbers.flatMap { number($0, bits / 8) } : packed(numbers)
        }
    }

    /// The numbers of a row, one after the other from the high bits on.
    private func packed(_ numbers: [Int]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: (numbers.count * bits + 7) / 8)
        var place = 0
        for number in numbers {
            for bit in (0..<bits).reversed() {
                if number >> bit & 1 == 1 { bytes[place / 8] |= 0x80 >> UInt8(place % 8) }
                place += 1
            }
        }
        return bytes
    }

    private func directory(at offset: Int, parts: [[UInt8]], start: Int, samples: Int) -> [UInt8] {
        var offsets: [Int] = []
        var place = start
        for part in parts {
            offsets.append(place)
            if !sharesFirstStrip { place += part.count }
        }
        func shorts(_ values: [Int]) -> (Int, Int, [UInt8]) { (3, values.count, values.flatMap { number($0, 2) }) }
        func longs(_ values: [Int]) -> (Int, Int, [UInt8]) { (4, values.count, values.flatMap { number($0, 4) }) }
        var entries: [Int: (Int, Int, [UInt8])] = [
            256: longs([width]), 257: longs([height]), 258: shorts(Array(repeating: bits, count: samples)),
            259: shorts([compression]), 277: shorts([samples]), 284: shorts([isPlanar ? 2 : 1]),
            339: shorts(Array(repeating: sampleFormat, count: samples)),
        ]
        if let photometric { entries[262] = shorts([photometric]) }
        if predictor != 1 { entries[317] = shorts([predictor]) }
        if !extras.isEmpty { entries[338] = shorts(extras) }
        if !palette.isEmpty { entries[320] = shorts(palette) }
        if let profile { entries[34_675] = (7, profile.count, [UInt8](profile)) }
        if let tileSide {
            entries[322] = longs([tileSide])
            entries[323] = longs([tileSide])
            entries[324] = longs(offsets)
            entries[325] = longs(parts.map(\.count))
        } else {
            entries[273] = longs(offsets)
            entries[278] = longs([rowsPerStrip ?? height])
            entries[279] = longs(parts.map(\.count))
        }
        for (tag, extreme) in zip(340...341, extremes) {
            entries[tag] = (
                11, samples, Array(repeating: number(Int(extreme.bitPattern), 4), count: samples).flatMap(\.self)
            )
        }
        for tag in 0..<unknownFields { entries[40_000 + tag] = longs([1]) }
        var table = number(entries.count, 2)
        var values: [UInt8] = []
        let valuesStart = offset + 2 + entries.count * 12 + 4
        for (tag, entry) in entries.sorted(by: { $0.key < $1.key }) {
            table += number(tag, 2) + number(entry.0, 2) + number(entry.1, 4)
            if entry.2.count <= 4 {
                table += entry.2 + [UInt8](repeating: 0, count: 4 - entry.2.count)
            } else {
                table += number(valuesStart + values.count, 4)
                values += entry.2 + (entry.2.count % 2 == 0 ? [] : [0])
            }
        }
        return table + number(0, 4) + values
    }
}
#endif
