import FoundationEssentials
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

extension ImageCoder {
    func info(_ data: Data) throws -> ImageInfo { try info(of: data, context: ProcessingContext()) }

    func decode(_ data: Data, _ change: (inout DecodeOptions) -> Void) throws -> Image {
        var options = DecodeOptions()
        change(&options)
        return try decode(data, options: options, context: ProcessingContext())
    }

    /// Decodes hundreds of damaged copies: each must end in an image or in an error of the type, and none may crash.
    func survives(damageTo data: Data, cases: Int, seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        var context = ProcessingContext()
        context.limits.maximumPixels = 1 << 20
        var options = DecodeOptions()
        var readable = 0
        for number in 0..<cases {
            var damaged = [UInt8](data)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                damaged[Int.random(in: 0..<damaged.count, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
            }
            if number % 4 == 0 { damaged.removeLast(Int.random(in: 0..<damaged.count, using: &generator)) }
            options.allowsPartialImage = number % 2 == 0
            options.thumbnailSize = number % 3 == 0 ? PixelSize(width: 5, height: 5) : nil
            _ = try? info(of: Data(damaged), context: context)
            do throws(ImageError) {
                let image = try decode(Data(damaged), options: options, context: context)
                #expect(!image.size.isEmpty)
                try image.animation?.forEachFrame { frame in #expect(frame.pixels.size == image.size) }
                readable += 1
            } catch {
                #expect(error.stage == .decode && !error.reason.isEmpty)
            }
        }
        #expect(readable < cases, "damage went unnoticed everywhere: the test changes nothing")
    }
}
