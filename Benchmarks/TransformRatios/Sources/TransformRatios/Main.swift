import Foundation
import Tintype

/// Prints how much processor time transformers take on a picture of 4,000 × 3,000 pixels, as lines of
/// `OPERATION<tab>median<tab>least`, in milliseconds. `scripts/lib/transform_peers.py` does the same work with other libraries.
@main
enum Main {
    static func main() throws {
        let rounds = ProcessInfo.processInfo.environment["ROUNDS"].flatMap { Int($0) } ?? 7
        let image = try picture()
        let operations: [(String, any ImageTransformer)] = [
            ("resize to 800x600", .resize(width: 800, height: 600, mode: .fill)),
            ("resize to 2000x1500", .resize(width: 2_000, height: 1_500, mode: .fill)),
            ("crop to 2000x1500", .crop(PixelRect(x: 1_001, y: 703, width: 2_000, height: 1_500))),
            ("blur, radius 1.5", .blur(radius: 1.5)),
            ("blur, radius 5", .blur(radius: 5)),
            ("blur, radius 20", .blur(radius: 20)),
            ("color matrix", .saturation(1.5)),
            ("flip", .flip(horizontally: true)),
            ("quarter turn", .rotate(degrees: 90)),
            ("rotate by 30 degrees", .rotate(degrees: 30)),
            ("rounded corners", .rounded(radius: 200)),
            ("tint, multiply", .tint(PixelColor(red: 1, green: 0.5, blue: 0.2), mode: .multiply)),
            ("blur, radius 5, linear light", .blur(radius: 5, inLinearLight: true)),
            ("resize to 800x600, linear light", .resize(width: 800, height: 600, mode: .fill, inLinearLight: true)),
        ]
        let context = ProcessingContext(pool: PixelBufferPool(limit: .megabytes(512)))
        try ProcessingContext.$current.withValue(context) {
            for (name, transformer) in operations {
                var times: [Double] = []
                for round in 0...rounds {
                    let start = processorTime()
                    _ = try image.transformed(transformer)
                    // The first round fills the pool.
                    if round > 0 { times.append(processorTime() - start) }
                }
                times.sort()
                print("\(name)\t\(times[times.count / 2])\t\(times[0])")
            }
        }
    }

    /// An opaque picture of gradients and noise.
    private static func picture() throws -> Image {
        let size = PixelSize(width: 4_000, height: 3_000)
        var pixels = try MutablePixelBuffer(size: size)
        let bytesPerRow = pixels.bytesPerRow
        var state: UInt32 = 1
        pixels.withUnsafeMutableBytes { bytes in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    state = state &* 1_664_525 &+ 1_013_904_223
                    let noise = Int(state >> 27)
                    let offset = y * bytesPerRow + x * 4
                    bytes[offset] = UInt8(truncatingIfNeeded: x * 200 / size.width + noise)
                    bytes[offset + 1] = UInt8(truncatingIfNeeded: y * 200 / size.height + noise)
                    bytes[offset + 2] = UInt8(truncatingIfNeeded: (x ^ y) & 255)
                    bytes[offset + 3] = 255
                }
            }
        }
        var image = Image(pixels: pixels.freeze())
        image.hasAlpha = false
        return image
    }

    /// The milliseconds of processor time of the program, and of the system for it.
    private static func processorTime() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func milliseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1_000 + Double(time.tv_usec) / 1_000 }
        return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime)
    }
}
