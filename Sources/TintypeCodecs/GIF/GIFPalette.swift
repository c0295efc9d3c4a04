internal import FoundationEssentials
internal import TintypeImages

/// The 256 colors of a frame as pixels. Colors that the file does not give are opaque black; the transparent index is zero.
struct GIFPalette: ~Copyable {
    private let colors: UnsafeMutablePointer<UInt32>
    private let isOpaque: Bool

    init(frame: GIFBlocks.Frame, global: Range<Int>?, in data: Data) {
        let colors = UnsafeMutablePointer<UInt32>.allocate(capacity: 256)
        colors.initialize(repeating: Self.pixel(0, 0, 0), count: 256)
        if let range = frame.palette ?? global {
            data.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in
                for (index, place) in stride(from: range.lowerBound, to: range.upperBound, by: 3).enumerated() {
                    colors[index] = Self.pixel(bytes[place], bytes[place + 1], bytes[place + 2])
                }
            }
        }
        if let transparent = frame.transparentIndex { colors[transparent] = 0 }
        isOpaque = frame.transparentIndex == nil
        self.colors = colors
    }

    deinit { colors.deallocate() }

    /// Draws a row; transparent pixels leave the canvas as it is.
    func draw(_ indices: UnsafePointer<UInt8>, count: Int, to row: UnsafeMutableRawPointer) {
        let pixels = row.assumingMemoryBound(to: UInt32.self)
        if isOpaque {
            for x in 0..<count { pixels[x] = colors[Int(indices[x])] }
        } else {
            for x in 0..<count {
                let color = colors[Int(indices[x])]
                pixels[x] = color == 0 ? pixels[x] : color
            }
        }
    }

    private static func pixel(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> UInt32 {
        UInt32(littleEndian: UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | 0xFF00_0000)
    }
}
