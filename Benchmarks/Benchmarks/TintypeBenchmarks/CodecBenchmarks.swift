import Benchmark
import BenchmarkPictures
import Foundation
import Tintype

/// Decoding, in the sizes and formats that programs meet.
func codecBenchmarks() {
    let thumbnail = DecodeOptions(thumbnailSize: PixelSize(width: 400, height: 400))

    decode("JPEG 12 MP → 400 px", .jpeg, width: 4_000, height: 3_000, options: thumbnail)
    decode("JPEG 12 MP, full", .jpeg, width: 4_000, height: 3_000)
    decode("JPEG 12 MP, full, on its side", .jpeg, width: 4_000, height: 3_000, isOnItsSide: true)
    decode("PNG 3 MP, full", .png, width: 2_048, height: 1_536)
    decode("PNG 3 MP → 400 px", .png, width: 2_048, height: 1_536, options: thumbnail)
    decode("WebP 3 MP, full", .webp, width: 2_048, height: 1_536)
    decode("WebP 3 MP → 400 px", .webp, width: 2_048, height: 1_536, options: thumbnail)

    Benchmark("resize RGBA 4000×3000 → 400×300") { benchmark in
        let image = try Pictures.photograph(width: 4_000, height: 3_000)
        benchmark.startMeasurement()
        for _ in benchmark.scaledIterations { blackHole(try image.resized(to: PixelSize(width: 400, height: 300))) }
    }
}

private func decode(
    _ name: String, _ format: ImageFormat, width: Int, height: Int, options: DecodeOptions = DecodeOptions(),
    isOnItsSide: Bool = false
) {
    Benchmark("decode \(name)") { benchmark in
        var data = try Pictures.encoded(format, width: width, height: height)
        if isOnItsSide { data.insert(contentsOf: sideways, at: 2) }
        benchmark.startMeasurement()
        for _ in benchmark.scaledIterations { blackHole(try Image(data: data, options: options)) }
    }
}

/// A segment of a JPEG with its Exif orientation, 6: the top of the picture is on the right.
private let sideways: [UInt8] =
    [0xFF, 0xE1, 0, 34] + Array("Exif".utf8) + [0, 0] + Array("II".utf8) + [42, 0, 8, 0, 0, 0]
    + [1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]
