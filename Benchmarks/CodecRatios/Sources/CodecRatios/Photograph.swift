import CLoops
import Foundation
import Tintype

/// A photograph in the forms that are compared.
struct Photograph {
    let name: String
    let baseline: Data
    let progressive: Data

    init(name: String, jpeg: Data) {
        self.name = name
        baseline = Self.transcode(jpeg, progressive: false)
        progressive = Self.transcode(jpeg, progressive: true)
    }

    /// The JPEG files of a folder, or, without one, a drawing of 12 megapixels.
    static func all(in folder: String?) throws -> [Photograph] {
        guard let folder else { return [Photograph(name: "drawing", jpeg: try drawing())] }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        return try names.filter { $0.hasSuffix(".jpg") }.map { name in
            let file = URL(fileURLWithPath: folder).appendingPathComponent(name)
            return Photograph(name: name, jpeg: try Data(contentsOf: file))
        }
    }

    private static func transcode(_ jpeg: Data, progressive: Bool) -> Data {
        var count = 0
        let bytes = jpeg.withUnsafeBytes {
            transcode_jpeg($0.bindMemory(to: UInt8.self).baseAddress, $0.count, progressive ? 1 : 0, &count)
        }
        guard let bytes else { return jpeg }
        return Data(bytesNoCopy: bytes, count: count, deallocator: .free)
    }

    /// Smooth shapes under fine noise.
    private static func drawing() throws -> Data {
        let size = PixelSize(width: 4_000, height: 3_000)
        var pixels = try MutablePixelBuffer(size: size)
        let bytesPerRow = pixels.bytesPerRow
        var random: UInt32 = 1
        pixels.withUnsafeMutableBytes { bytes in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    random ^= random << 13
                    random ^= random >> 17
                    random ^= random << 5
                    let noise = Int(random & 15) - 8
                    let shade = Int(127 + 100 * sin(Double(x) / 97) * cos(Double(y) / 61))
                    let offset = y * bytesPerRow + x * 4
                    bytes[offset] = UInt8(clamping: shade + noise)
                    bytes[offset + 1] = UInt8(clamping: x * 255 / size.width + noise)
                    bytes[offset + 2] = UInt8(clamping: y * 255 / size.height + noise)
                    bytes[offset + 3] = 255
                }
            }
        }
        var image = Image(pixels: pixels.freeze())
        image.hasAlpha = false
        return try image.encoded(as: .jpeg)
    }
}
