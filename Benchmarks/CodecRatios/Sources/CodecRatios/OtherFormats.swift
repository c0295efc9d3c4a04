import CLoops
import Foundation
import Tintype

/// What the formats beside JPEG and PNG cost: a picture in each of them, and the frames of an animation.
enum OtherFormats {
    /// The memory that the loops in C decode into.
    private final class Canvas {
        let bytesPerRow: Int
        let count: Int
        let pixels: UnsafeMutablePointer<UInt8>

        init(_ size: PixelSize) {
            bytesPerRow = (size.width * 4 + 63) & ~63
            count = bytesPerRow * size.height
            pixels = .allocate(capacity: count)
        }

        deinit { pixels.deallocate() }
    }

    static func print(_ photograph: Photograph, rounds: Int, context: ProcessingContext) throws {
        var plain = DecodeOptions()
        plain.keepsColorSpace = true
        var quarter = plain
        quarter.thumbnailSize = PixelSize(width: 2_560, height: 2_560)
        let picture = try ImageCoders.inProcess.decode(photograph.baseline, options: quarter, context: context)
        let canvas = Canvas(picture.size)
        var lossless = EncodeOptions()
        lossless.lossless = true
        let cases: [(name: String, data: Data, bare: (UnsafePointer<UInt8>, Int) -> Void)] = [
            (
                "WebP", try picture.encoded(as: .webp),
                { bare_webp($0, $1, canvas.pixels, canvas.bytesPerRow) }
            ),
            (
                "WebP, without loss", try picture.encoded(as: .webp, options: lossless),
                { bare_webp($0, $1, canvas.pixels, canvas.bytesPerRow) }
            ),
            (
                "AVIF", try picture.encoded(as: .avif),
                { bare_avif($0, $1, canvas.pixels, canvas.bytesPerRow) }
            ),
            ("JPEG XL", try picture.encoded(as: .jxl), { bare_jxl($0, $1, canvas.pixels, canvas.count) }),
        ]
        Swift.print("\nOther formats, \(picture.size), CPU ms: median (least) of \(rounds)\n")
        Swift.print("| format | bare loop in C | Tintype | ratio of medians |\n| --- | --- | --- | --- |")
        for (name, data, bare) in cases {
            let times = try compare(
                rounds: rounds,
                [
                    {
                        data.withUnsafeBytes { bytes in
                            bytes.bindMemory(to: UInt8.self).baseAddress.map { bare($0, bytes.count) }
                        }
                    },
                    { _ = try ImageCoders.inProcess.decode(data, options: plain, context: context) },
                ])
            row(name, times)
        }
        try frames(rounds: rounds, context: context)
    }

    /// An animated GIF whose frames are composed one after the other, by giflib and by a frame decoder.
    private static func frames(rounds: Int, context: ProcessingContext) throws {
        let size = PixelSize(width: 480, height: 270)
        let data = try animation(size, frames: 48).encoded(as: .gif)
        let canvas = Canvas(size)
        let times = try compare(
            rounds: rounds,
            [
                {
                    data.withUnsafeBytes {
                        precondition(
                            bare_gif(
                                $0.bindMemory(to: UInt8.self).baseAddress, $0.count, canvas.pixels, canvas.bytesPerRow)
                                == 48)
                    }
                },
                {
                    let frames = try ImageCoders.inProcess.frameDecoder(
                        for: data, options: DecodeOptions(), context: context)
                    while try frames?.nextFrame() != nil {}
                },
            ])
        row("GIF, 48 frames of \(size)", times)
    }

    /// A disc that moves over a gradient under noise.
    private static func animation(_ size: PixelSize, frames count: Int) throws -> Image {
        var random: UInt32 = 7
        let frames = try (0..<count).map { index in
            var pixels = try MutablePixelBuffer(size: size)
            let bytesPerRow = pixels.bytesPerRow
            let center = (x: 60 + index * 7, y: 135 + Int(60 * sin(Double(index) / 5)))
            pixels.withUnsafeMutableBytes { bytes in
                for y in 0..<size.height {
                    for x in 0..<size.width {
                        random ^= random << 13
                        random ^= random >> 17
                        random ^= random << 5
                        let isInside = (x - center.x) * (x - center.x) + (y - center.y) * (y - center.y) < 2_500
                        let noise = Int(random & 15)
                        let offset = y * bytesPerRow + 4 * x
                        bytes[offset] = UInt8(clamping: isInside ? 230 : x * 255 / size.width / 2 + noise)
                        bytes[offset + 1] = UInt8(clamping: isInside ? 80 + noise : y * 255 / size.height)
                        bytes[offset + 2] = UInt8(clamping: isInside ? 40 : 120 + noise)
                        bytes[offset + 3] = 255
                    }
                }
            }
            return ImageFrame(pixels: pixels.freeze(), duration: .milliseconds(40))
        }
        guard var image = Image(frames: frames) else { preconditionFailure("frames of one size") }
        image.hasAlpha = false
        return image
    }

    private static func row(_ name: String, _ times: [(median: Double, least: Double)]) {
        let cells = times.map { String(format: "%.1f (%.1f)", $0.median, $0.least) }
        Swift.print(
            "| \(name) | \(cells[0]) | \(cells[1]) | \(String(format: "%.2f", times[1].median / times[0].median)) |")
    }
}
