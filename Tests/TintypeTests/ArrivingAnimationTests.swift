import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import Tintype
@testable import TintypeImages
@testable import TintypeLoading

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
        let coder = try #require(ImageCoders.default.arrivingCoder(for: data, hint: nil))
        var stops: [Int] = []
        for count in 1...data.count {
            guard let info = try? coder.arrivedInfo(of: data.prefix(count), context: ProcessingContext()) else {
                continue
            }
            // The first frame is counted before it is whole.
            if info.frameCount > stops.count + 1 { stops.append(count) }
        }
        return stops
    }

    private func manager(_ loader: PortionedLoader) throws -> ImageManager {
        var configuration = ImageManager.Configuration()
        configuration.previewInterval = .zero
        return ImageManager(
            cache: ImageCache(), loader: loader, coders: ImageCoders.default,
            configuration: configuration)
    }

    @Test(
        "The first frame is shown while the others are still on their way, then more and more",
        .capability("COD-04", "DLR-27"),
        arguments: [ImageFormat.gif, .png, .webp])
    func frames(format: ImageFormat) async throws {
        let data = try Self.animation(format)
        let whole = try Image(data: data).frames
        let loader = PortionedLoader(data)
        var request = ImageRequest(try #require(URL(string: "test:a")))
        request.isProgressive = true
        let task = try manager(loader).task(for: request)
        // From the second frame on.
        let stops = try self.stops(data)
        #expect(stops.count == 5)
        var still: Image?
        var animation: AnimatedImage?
        loader.allowed.update { $0 = stops[0] - 1 }
        for await event in task.events {
            guard case .preview(let preview) = event else { continue }
            #expect(preview.isPartial || preview.isAnimated)
            if let moving = preview.animation {
                #expect(animation == nil || animation === moving, "all previews have the same animation")
                animation = moving
                break
            }
            still = preview
            // Two frames are looked for when there is an eighth more.
            loader.allowed.update { $0 = max(stops[0], $0 + $0 / 8 + 1) }
        }
        #expect(still?.pixels == whole[0].pixels)
        let arriving = try #require(animation)
        for (index, stop) in stops.enumerated() {
            loader.allowed.update { $0 = max($0, stop) }
            while arriving.frameCount < index + 2 { await Task.yield() }
            #expect(try await arriving.frame(at: index + 1) == whole[index + 1])
        }
        loader.allowed.update { $0 = data.count }
        let image = try await task.image
        #expect(image.animation === arriving && image.frames == whole)
    }

    private static func longGIF() throws -> Data {
        let frames = try (0..<200).map { index in
            var pixels = try MutablePixelBuffer(size: PixelSize(width: 64, height: 64))
            pixels.withUnsafeMutableBytes { bytes in
                for offset in bytes.indices { bytes[offset] = offset % 4 == 3 ? 255 : UInt8(index) }
            }
            return ImageFrame(pixels: pixels.freeze(), duration: .milliseconds(40))
        }
        return try #require(Image(frames: frames)).with { $0.hasAlpha = false }.encoded(as: .gif)
    }

    @Test(
        "Frames of a long file are looked for when a 64th of its bytes has come, and at its end", .capability("COD-04"))
    func attempts() throws {
        let data = try Self.longGIF()
        var animation = ArrivingAnimation(
            EntryCoder(coders: ImageCoders.default), options: DecodeOptions(), context: ProcessingContext())
        var counts: Set<Int> = []
        for count in 1..<data.count {
            _ = animation.extend(data.prefix(count))
            if let image = animation.image { counts.insert(image.frameCount) }
        }
        // Of the first frames each is seen, of the last every third.
        let last = try #require(counts.max())
        #expect(counts.isSuperset(of: 4...30) && counts.count < 160 && last >= 195)
        _ = animation.extend(data, isEnd: true)
        #expect(animation.image?.frameCount == 200)
    }

    @Test("A GIF of 200 frames takes the memory of its bytes and two pictures", .capability("CTX-22", "3.5"))
    func memory() async throws {
        let data = try Self.longGIF()
        let (loader, pool) = (PortionedLoader(data), PixelBufferPool(limit: .megabytes(64)))
        loader.allowed.update { $0 = data.count }
        var configuration = ImageManager.Configuration()
        configuration.pool = pool
        let manager = ImageManager(
            cache: ImageCache(), loader: loader, coders: ImageCoders.default, configuration: configuration)
        let image = try await manager.image(for: try #require(URL(string: "test:a")))
        let canvas = image.pixels.byteCount
        #expect(image.animation?.frameCount == 200 && image.memoryCost == data.count + canvas)
        #expect(pool.statistics.usedBytes <= 2 * canvas)
    }

    @Test(
        "Frames that were shown are read by anybody while more are decoded", .capability("COD-04"),
        arguments: [ImageFormat.gif, .png, .webp])
    func concurrentReaders(format: ImageFormat) async throws {
        let data = try Self.animation(format)
        let whole = try Image(data: data)
        let coder = EntryCoder(coders: ImageCoders.default)
        let context = ProcessingContext()
        var animation: AnimatedImage?
        var readers: [Task<Bool, Never>] = []
        for end in stride(from: data.count / 20, through: data.count, by: data.count / 20) {
            let arrived = data.prefix(end)
            if let animation {
                animation.extend(arrived, context: context)
            } else {
                animation = try? AnimatedImage(arriving: arrived, options: DecodeOptions(), coder, context: context)
            }
            guard let animation else { continue }
            readers.append(
                Task {
                    for index in 0..<animation.frameCount
                    where (try? await animation.frame(at: index)) != whole.frames[index] { return false }
                    return animation.loopCount == whole.loopCount
                })
        }
        animation?.finish(data, context: context)
        for reader in readers { #expect(await reader.value) }
        #expect(readers.count >= 3 && animation?.isPartial == false)
    }
}
