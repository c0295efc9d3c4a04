import Foundation

/// A GIF with 256 grays, without an encoder that holds all frames.
struct SampleGIF {
    enum Frames: String, CaseIterable {
        /// Each frame has all pixels.
        case whole
        /// Each frame but the first has the part that changed, a quarter of the canvas.
        case parts
    }

    let width: Int
    let height: Int
    let frames: Frames
    let count: Int

    /// The frames of the animation that differ; it repeats them.
    private static let period = 40

    func encoded() -> Data {
        var data = Data("GIF89a".utf8)
        data.append(contentsOf: Self.bytes(width) + Self.bytes(height) + [0xF7, 0, 0])
        for gray in 0..<256 { data.append(contentsOf: [UInt8](repeating: UInt8(gray), count: 3)) }
        data.append(contentsOf: [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 1, 0, 0])
        var encoder = LZWEncoder()
        var blocks: [Data] = []
        for index in 0..<count {
            if index == 0 || index > 0 && blocks.count <= Self.period { blocks.append(block(index, &encoder)) }
            // The first frame is whole, and so isn't one of those that are repeated.
            data.append(index == 0 ? blocks[0] : blocks[1 + (index - 1) % Self.period])
        }
        data.append(0x3B)
        return data
    }

    private func block(_ index: Int, _ encoder: inout LZWEncoder) -> Data {
        let isPart = frames == .parts && index > 0
        let (width, height) = isPart ? (self.width / 2, self.height / 2) : (self.width, self.height)
        let step = index % Self.period
        let x = isPart ? step * (self.width - width) / Self.period : 0
        let y = isPart ? step * (self.height - height) / Self.period : 0
        // 40 ms, and the frame stays.
        var data = Data([0x21, 0xF9, 4, 1 << 2, 4, 0, 0, 0, 0x2C])
        data.append(contentsOf: [x, y, width, height].flatMap(Self.bytes) + [0, 8])
        let codes = encoder.encode(pixels(x, y, width, height, step))
        for start in stride(from: 0, to: codes.count, by: 255) {
            let end = min(start + 255, codes.count)
            data.append(UInt8(end - start))
            data.append(contentsOf: codes[start..<end])
        }
        data.append(0)
        return data
    }

    /// Smooth shades and a disc that move, dithered.
    private func pixels(_ x: Int, _ y: Int, _ width: Int, _ height: Int, _ step: Int) -> [UInt8] {
        var pixels = [UInt8](repeating: 0, count: width * height)
        let (centerX, centerY) = (self.width / 4 + step * 24, self.height / 3 + step * 8)
        let radius = self.height / 5
        let pattern = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5]
        for row in 0..<height {
            for column in 0..<width {
                let (px, py) = (x + column, y + row)
                let (dx, dy) = (px - centerX, py - centerY)
                let isInside = dx * dx + dy * dy < radius * radius
                let shade = isInside ? (dx + dy + 2 * radius) * 16 : (px + 2 * py + 40 * step) * 12 / 10
                let dithered = (shade + pattern[(py & 3) * 4 + px & 3]) >> 4
                pixels[row * width + column] = UInt8(truncatingIfNeeded: dithered)
            }
        }
        return pixels
    }

    private static func bytes(_ value: Int) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8 & 0xFF)] }
}

/// Writes the codes of a frame with 256 colors.
struct LZWEncoder {
    /// The code of a string and an index after it, with the number of the dictionary that it belongs to in the upper bits.
    private var table = [UInt32](repeating: 0, count: 4_096 << 8)
    private var dictionary: UInt32 = 0

    mutating func encode(_ pixels: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var (bits, bitCount): (UInt64, Int) = (0, 0)
        var (next, width) = (258, 9)
        func write(_ code: Int) {
            bits |= UInt64(code) << UInt64(bitCount)
            bitCount += width
            while bitCount >= 8 {
                output.append(UInt8(truncatingIfNeeded: bits))
                bits >>= 8
                bitCount -= 8
            }
        }
        write(256)
        dictionary += 1
        var prefix = Int(pixels[0])
        for pixel in pixels.dropFirst() {
            let place = prefix << 8 | Int(pixel)
            if table[place] >> 12 == dictionary {
                prefix = Int(table[place] & 0xFFF)
                continue
            }
            write(prefix)
            prefix = Int(pixel)
            if next < 4_096 {
                table[place] = dictionary << 12 | UInt32(next)
                if next == 1 << width { width += 1 }
                next += 1
            } else {
                write(256)
                dictionary += 1
                (next, width) = (258, 9)
            }
        }
        write(prefix)
        write(257)
        if bitCount > 0 { output.append(UInt8(truncatingIfNeeded: bits)) }
        return output
    }
}
