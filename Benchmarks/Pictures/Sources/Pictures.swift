import Foundation
import Tintype

/// Pictures that the benchmarks draw themselves, the same ones in every run.
public enum Pictures {
    /// Smooth shapes under fine noise: about as hard to compress as a photograph.
    public static func photograph(width: Int, height: Int, seed: UInt32 = 1) throws -> Image {
        var pixels = try MutablePixelBuffer(size: PixelSize(width: width, height: height))
        let bytesPerRow = pixels.bytesPerRow
        var random = seed | 1
        pixels.withUnsafeMutableBytes { bytes in
            for y in 0..<height {
                for x in 0..<width {
                    random ^= random << 13
                    random ^= random >> 17
                    random ^= random << 5
                    let noise = Int(random & 15) - 8
                    let shade = 127 + 100 * sin(Double(x) / 97 + Double(seed)) * cos(Double(y) / 61)
                    let offset = y * bytesPerRow + x * 4
                    bytes[offset] = UInt8(clamping: Int(shade) + noise)
                    bytes[offset + 1] = UInt8(clamping: x * 255 / width + noise)
                    bytes[offset + 2] = UInt8(clamping: y * 255 / height + noise)
                    bytes[offset + 3] = 255
                }
            }
        }
        var image = Image(pixels: pixels.freeze())
        image.hasAlpha = false
        return image
    }

    public static func encoded(
        _ format: ImageFormat, width: Int, height: Int, seed: UInt32 = 1, options: EncodeOptions = EncodeOptions()
    ) throws -> Data {
        try photograph(width: width, height: height, seed: seed).encoded(as: format, options: options)
    }
}
