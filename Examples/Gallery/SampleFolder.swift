#if GTK
import Foundation
import Tintype

/// A folder of JPEGs that are drawn for a measurement.
enum SampleFolder {
    private static let size = PixelSize(width: 800, height: 600)

    /// Draws the images that a folder lacks.
    static func fill(_ folder: String, count: Int) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let missing = (0..<count).map { "\(folder)/\(100_000 + $0).jpg" }
            .filter { !FileManager.default.fileExists(atPath: $0) }
        DispatchQueue.concurrentPerform(iterations: missing.count) { index in
            do {
                let image = Image(pixels: try draw(UInt32(index)))
                try image.encoded(as: .jpeg).write(to: URL(filePath: missing[index]))
            } catch {
                print("\(missing[index]): \(error)")
            }
        }
    }

    /// Shades and stripes in colors that depend on the number.
    private static func draw(_ number: UInt32) throws -> PixelBuffer {
        var pixels = try MutablePixelBuffer(size: size)
        let bytesPerRow = pixels.bytesPerRow
        let hue = number &* 2_654_435_761
        pixels.withUnsafeMutableBytes { memory in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let stripe = (x + y) >> 5 & 1 == 0 ? UInt32(0) : 40
                    let red = (hue >> 24 & 0x7F) + UInt32(x) / 8
                    let green = (hue >> 16 & 0x7F) + UInt32(y) / 6
                    let blue = (hue >> 8 & 0x7F) + stripe
                    memory.storeBytes(
                        of: 0xFF00_0000 | blue << 16 | green << 8 | red, toByteOffset: y * bytesPerRow + x * 4,
                        as: UInt32.self)
                }
            }
        }
        return pixels.freeze()
    }
}
#endif
