import FoundationEssentials
import TestSupport
import Testing

@testable import TintypeCodecs
@testable import TintypeDisplay

@Suite("Frames that have arrived", .timeLimited)
struct ArrivedFramesTests {
    static let coders: [any ArrivingAnimationCoder] = {
        var coders: [any ArrivingAnimationCoder] = [GIFCoder(), PNGCoder(), WebPCoder()]
        #if JXL
        coders.append(JXLCoder())
        #endif
        return coders
    }()

    private static func animation(_ coder: any ImageCoder) throws -> Data {
        let frames = try (0..<5).map { index in
            var pixels = try MutablePixelBuffer(size: PixelSize(width: 24, height: 18))
            pixels.withUnsafeMutableBytes { bytes in
                for offset in bytes.indices {
                    bytes[offset] = offset % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: offset * (index + 3) % 199)
                }
            }
            return ImageFrame(pixels: pixels.freeze(), duration: .milliseconds(50 + 10 * index))
        }
        let image = try #require(Image(frames: frames)).with { $0.hasAlpha = false }
        var options = EncodeOptions()
        options.lossless = true
        let format = try #require(coder.encodableFormats.first)
        return try coder.encode(image, as: format, options: options)
    }

    @Test(
        "After each byte the frames that are all there can be decoded, each once, and are those of the whole file",
        .capability("AIV-05", "COD-04"), arguments: coders)
    func growing(coder: any ArrivingAnimationCoder) throws {
        let data = try Self.animation(coder)
        let whole = try coder.decode(data)
        let context = ProcessingContext()
        var decoder: (any ArrivingFrameDecoder)?
        var (shown, known) = (0, 1)
        for count in 1...data.count {
            let part = Data(data.prefix(count))
            guard let info = try? coder.arrivedInfo(of: part, context: context), info.isAnimated else { continue }
            #expect(info.frameCount >= known && info.frameCount == info.frameDurations.count)
            known = info.frameCount
            if let decoder {
                try decoder.extend(part)
            } else {
                decoder = try coder.arrivingFrameDecoder(for: part, options: DecodeOptions(), context: context)
            }
            while shown < info.frameCount {
                let frame = try #require(try decoder?.nextFrame())
                #expect(frame.pixels == whole.frames[shown].pixels && frame.duration == whole.frames[shown].duration)
                shown += 1
            }
        }
        // Of JPEG XL, only the end of the file tells that the last frame is there.
        let isCertain = try coder.info(of: data).format != .jxl
        #expect(known == (isCertain ? 5 : 4) && shown == known)
        #expect(try decoder?.nextFrame()?.pixels == (isCertain ? nil : whole.frames[4].pixels))
        try decoder?.seek(to: 1)
        #expect(try decoder?.nextFrame()?.pixels == whole.frames[1].pixels)
    }
}
