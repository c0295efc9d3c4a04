import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

/// Sends the bytes of one source when the test says so.
private final class PortionedLoader: ImageLoading {
    private let data: Data
    /// How many bytes may have been sent.
    let allowed = Watched(0)

    init(_ data: Data) { self.data = data }

    func canLoad(_ url: URL) -> Bool { true }

    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        var sent = 0
        while sent < data.count {
            let before = sent
            do { try await allowed.wait { $0 > before } } catch {
                throw ImageError(.cancelled, stage: .load, reason: "cancelled")
            }
            let end = min(allowed.value, data.count)
            request.receive(LoadProgress(chunk: data[sent..<end], receivedBytes: end, expectedBytes: data.count))
            sent = end
        }
        return LoadedData(data: data, url: request.url)
    }
}

@Suite("Animations that arrive", .timeLimited)
struct ArrivingAnimationTests {
    private static func animation(_ format: ImageFormat) throws -> Data {
        let frames = try (0..<6).map { index in
            var pixels = try MutablePixelBuffer(size: PixelSize(width: 48, height: 32))
            pixels.withUnsafeMutableBytes { bytes in
                for offset in bytes.indices {
                    bytes[offset] = offset % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: offset * (index + 3) % 251)
                }
            }
            return ImageFrame(pixels: pixels.freeze(), duration: .milliseconds(40))
        }
        let image = try #require(Image(frames: frames)).with { $0.hasAlpha = false }
        var options = EncodeOptions()
        options.lossless = true
        return try image.encoded(as: format, options: options)
    }

    /// After how many bytes there is one more frame.
    private func stops(_ data: Data) throws -> [Int] {
        let decoder = try ImageCoders.default.progressiveDecoder(options: DecodeOptions(), context: DecodeContext())
        let whole = try Image(data: data)
        var stops: [Int] = []
        for (index, byte) in data.enumerated() {
            try decoder.append(Data([byte]))
            guard let preview = try decoder.preview(), preview.frames.count > stops.count,
                preview.pixels == whole.pixels
            else { continue }
            stops.append(index + 1)
        }
        return stops
    }

    private func manager(_ loader: PortionedLoader) throws -> ImageManager {
        var configuration = ImageManager.Configuration()
        configuration.previewInterval = .zero
        return ImageManager(
            cache: MemoryImageCache(), loader: loader, coders: ImageCoders.default,
            configuration: configuration)
    }

    @Test(
        "the first frame is shown while the others are still on their way, then more and more",
        .capability("COD-04", "DLR-27"),
        arguments: [ImageFormat.gif, .png, .webp])
    func frames(format: ImageFormat) async throws {
        let data = try Self.animation(format)
        let whole = try Image(data: data)
        let loader = PortionedLoader(data)
        var request = ImageRequest(try #require(URL(string: "test:a")))
        request.isProgressive = true
        let task = try manager(loader).task(for: request)
        let stops = try self.stops(data)
        #expect(stops.count == 6)
        var counts: [Int] = []
        loader.allowed.update { $0 = stops[0] }
        for await event in task.events {
            guard case .preview(let preview) = event else { continue }
            #expect(preview.isPartial && preview.frames.count >= counts.last ?? 1)
            guard counts.last != preview.frames.count else { continue }
            counts.append(preview.frames.count)
            #expect(preview.frames.map(\.pixels) == whole.frames.prefix(preview.frames.count).map(\.pixels))
            loader.allowed.update { $0 = counts.count < 6 ? stops[counts.count] : data.count }
        }
        // After the last byte the image itself comes at once, perhaps before a preview.
        #expect(counts.starts(with: 1...stops.count { $0 < data.count }) && counts.count <= 6)
        #expect(try await task.image.frames == whole.frames)
    }

    @Test(
        "frames that were shown are read by anybody while more are decoded", .capability("COD-04"),
        arguments: [ImageFormat.gif, .png, .webp])
    func concurrentReaders(format: ImageFormat) async throws {
        let data = try Self.animation(format)
        let whole = try Image(data: data)
        let decoder = try ImageCoders.default.progressiveDecoder(options: DecodeOptions(), context: DecodeContext())
        var previews: [Image] = []
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for start in stride(from: 0, to: data.count, by: data.count / 20) {
                try decoder.append(data[start..<min(start + data.count / 20, data.count)])
                guard let preview = try decoder.preview(), preview.isAnimated else { continue }
                previews.append(preview)
                group.addTask {
                    preview.frames == Array(whole.frames.prefix(preview.frames.count))
                        && preview.loopCount == whole.loopCount
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(previews.count >= 3)
        #expect(try decoder.finish().frames == whole.frames)
    }
}
