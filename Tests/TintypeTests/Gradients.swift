import Foundation
import Tintype

/// Gradients that no format makes very small.
enum Gradients {
    /// The picture, 64 × 48 pixels, encoded.
    static func data(_ format: ImageFormat) throws -> Data { try image().encoded(as: format) }

    /// The picture with opaque pixels.
    static func image(width: Int = 64, height: Int = 48) throws -> Image {
        var pixels = try MutablePixelBuffer(size: PixelSize(width: width, height: height))
        let bytesPerRow = pixels.bytesPerRow
        pixels.withUnsafeMutableBytes { bytes in
            for y in 0..<height {
                for x in 0..<width {
                    let offset = y * bytesPerRow + x * 4
                    bytes[offset] = UInt8(truncatingIfNeeded: x * 4 ^ y * 7)
                    bytes[offset + 1] = UInt8(truncatingIfNeeded: y * 5 &+ x)
                    bytes[offset + 2] = UInt8(truncatingIfNeeded: x &* y)
                    bytes[offset + 3] = 255
                }
            }
        }
        return Image(pixels: pixels.freeze()).with { $0.hasAlpha = false }
    }
}
