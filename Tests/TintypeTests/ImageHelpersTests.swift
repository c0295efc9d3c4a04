import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

/// Sends the same bytes whatever it is asked for.
private struct BytesLoader: ImageLoading {
    let data: Data

    func canLoad(_ url: URL) -> Bool { true }

    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        LoadedData(data: data, url: request.url)
    }
}

@Suite("Images, decoded or not, and from frames", .timeLimited)
struct ImageHelpersTests {
    private func picture(_ index: Int, isOpaque: Bool = true) throws -> Image {
        let size = PixelSize(width: 30, height: 20)
        return try Image(size: size, isOpaque: isOpaque) { surface in
            surface.fill(PixelColor(red: 1, green: 0, blue: 0), x: index * 5, size: PixelSize(width: 10, height: 20))
        }
    }

    private func animation() throws -> Image {
        let frames = try [60, 120, 200].enumerated().map { index, time in
            ImageFrame(try picture(index), duration: .milliseconds(time))
        }
        return try #require(Image(frames: frames)).with {
            $0.loopCount = 3
            $0.hasAlpha = false
        }
    }

    @Test(
        "Pictures with durations become a file that moves, and come back", .capability("MET-27"),
        arguments: [
            ImageFormat.gif, .png, .webp,
        ])
    func frames(format: ImageFormat) throws {
        let image = try animation()
        #expect(image.frames.map(\.duration) == [.milliseconds(60), .milliseconds(120), .milliseconds(200)])
        #expect(try image.frames[1].pixels == picture(1).pixels)
        var options = EncodeOptions()
        options.lossless = true
        let decoded = try Image(data: image.encoded(as: format, options: options))
        #expect(decoded.frames == image.frames && decoded.loopCount == 3)
        // Of an animation the first frame counts.
        #expect(ImageFrame(image, duration: .seconds(1)).pixels === image.frames[0].pixels)
    }

    @Test("An image becomes a file of its own format, or of one that can hold it", .capability("MET-21"))
    func ownFormat() throws {
        let image = try picture(0)
        #expect(try image.encoded().format == .jpeg)
        #expect(try picture(0, isOpaque: false).encoded().format == .png)
        let decoded = try Image(data: image.encoded(as: .webp))
        let (data, format) = try decoded.encoded()
        #expect(format == .webp && ImageFormat(sniffing: data) == .webp)
        let moving = try animation()
        #expect(try Image(data: moving.encoded(as: .gif)).encoded().format == .gif)
        #expect(try moving.with { $0.format = .jpeg }.encoded().format == .webp)
        #expect(throws: ImageError.self) { try image.encoded(coders: ImageCoders([])) }
    }

    @Test("An animation is encoded anew, without its metadata; its own bytes stay as they came", .capability("ANI-07"))
    func ownBytes() throws {
        var source = try animation()
        let xmp = Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><a>where it was taken</a></x:xmpmeta>".utf8)
        source.metadata.xmp = xmp
        let data = try source.encoded(as: .webp, options: EncodeOptions(quality: 1, keepsMetadata: true))
        let image = try Image(data: data)
        #expect(image.metadata.xmp == xmp && image.animation?.data == data)
        let encoded = try Image(data: image.encoded(as: .webp, options: EncodeOptions(quality: 1)))
        #expect(encoded.metadata.xmp == nil && encoded.frames.count == 3)
    }

    @Test("A GIF, still or moving, and nothing else", .capability("MET-22"))
    func gif() throws {
        let image = try animation()
        let moving = try Image(gif: image.encoded(as: .gif))
        #expect(moving.frames == image.frames && moving.loopCount == 3 && moving.format == .gif)
        #expect(try !Image(gif: picture(0).encoded(as: .gif)).isAnimated)
        var options = DecodeOptions(thumbnailSize: PixelSize(width: 15, height: 15))
        options.firstFrameOnly = true
        #expect(try Image(gif: image.encoded(as: .gif), options: options).size == PixelSize(width: 15, height: 10))
        func code(_ data: Data) -> ImageError.Code? {
            do throws(ImageError) {
                _ = try Image(gif: data)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code(Data()) == .emptyBody)
        #expect(code(try picture(0).encoded(as: .png)) == .unknownFormat)
        #expect(code(Data("GIF89a".utf8)) == .truncatedImage)
    }

    @Test(
        "An image has its pixels, at once, in rows that begin at 64 bytes and in sRGB",
        .capability("COD-37", "COD-40", "MET-11"),
        arguments: [
            ImageFormat.jpeg, .png, .gif, .webp, .bmp,
        ])
    func decoded(format: ImageFormat) throws {
        let data = try animation().encoded(as: format)
        let image = try Image(data: data)
        #expect(image.frames.count == ([.jpeg, .bmp].contains(format) ? 1 : 3))
        for frame in image.frames {
            #expect(frame.pixels.bytesPerRow % 64 == 0 && frame.pixels.format == .rgba8)
            #expect(frame.pixels.withUnsafeBytes { Int(bitPattern: $0.baseAddress) % 64 } == 0)
        }
        #expect(image.colorSpace == .sRGB)
        let pixel = image.pixels[4, 10]
        #expect(pixel.x > 240 && pixel.y < 16 && pixel.w == 255)
    }

    @Test(
        "What is not decoded is of another type, and takes no pixels until it is",
        .capability("COD-16", "COD-37", "MET-11"),
        arguments: [
            ImageFormat.jpeg, .png, .gif, .webp,
        ])
    func undecoded(format: ImageFormat) async throws {
        let data = try animation().encoded(as: format)
        let pool = PixelBufferPool(limit: 0)
        var configuration = ImageManager.Configuration()
        configuration.pool = pool
        let manager = ImageManager(
            cache: ImageCache(), loader: BytesLoader(data: data), configuration: configuration)
        let request = ImageRequest(try #require(URL(string: "test:a")))
        let encoded: EncodedImage = try await manager.data(for: request)
        #expect(encoded.data == data && encoded.info.format == format)
        #expect(encoded.info.size == PixelSize(width: 30, height: 20))
        #expect(encoded.info.frameCount == (format == .jpeg ? 1 : 3))
        #expect(pool.statistics.allocated == 0)
        let image = try await manager.image(for: request)
        #expect(image.frames.count == encoded.info.frameCount && pool.statistics.allocated > 0)
        #expect(try Image(data: encoded.data).frames == image.frames)
    }

    @Test("A bitmap is no vector image", .capability("MET-04"))
    func bitmap() throws {
        #expect(try !Image(data: picture(0).encoded(as: .png)).isVector)
        #expect(try picture(0).with { $0.isVector = true }.isVector)
    }
}
