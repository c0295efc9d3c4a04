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

@Suite("Variants of more than 8 bits on disk", .timeLimited)
struct StoredDepthTests {
    private let folder = try! TemporaryDirectory()

    private func manager(_ data: Data) throws -> ImageManager {
        ImageManager(
            cache: try ImageCache(disk: .init(directory: folder.path + "/cache")), loader: BytesLoader(data: data))
    }

    /// Colors that 8 bits do not have.
    private func picture(_ format: PixelFormat) throws -> Image {
        var pixels = try MutablePixelBuffer(size: PixelSize(width: 80, height: 60), format: format)
        pixels.withUnsafeMutableBytes { bytes in
            let components = bytes.assumingMemoryBound(to: UInt16.self)
            for place in components.indices {
                components[place] =
                    format == .rgba16
                    ? place % 4 == 3 ? .max : UInt16(truncatingIfNeeded: place &* 641)
                    : (place % 4 == 3 ? 1 : Float16(place % 320) / 200).bitPattern
            }
        }
        return Image(pixels: pixels.freeze()).with { $0.hasAlpha = false }
    }

    private func request() throws -> ImageRequest {
        var request = ImageRequest(try #require(URL(string: "test:a")))
        request.decode.thumbnailSize = PixelSize(width: 40, height: 40)
        return request
    }

    private func load(_ data: Data) async throws -> (made: Image, stored: Image) {
        var request = try request()
        request.decode.decodeToHDR = true
        request.cache.storesVariant = true
        request.cache.waitsForStore = true
        let made = try await manager(data).image(for: request)
        let again = try await manager(data).load(request)
        // The thumbnail itself was read, and comes back as it was stored.
        #expect(again.source == .disk && again.data == nil)
        #expect(again.image.properties.sourceSize == made.properties.sourceSize)
        #expect(
            again.image.isThumbnail == made.isThumbnail
                && again.image.properties.decodeOptions == made.properties.decodeOptions)
        return (made, again.image)
    }

    @Test("A stored thumbnail of 16 bits comes back with 16 bits, exactly", .capability("COD-18", "MGR-27", "CTX-15"))
    func deep() async throws {
        let data = try picture(.rgba16).encoded(as: .png)
        let (made, stored) = try await load(data)
        #expect(made.pixels.format == .rgba16 && stored.pixels == made.pixels)
        // Who does not ask for it gets 8 bits, under another key.
        #expect(try await manager(data).image(for: request()).pixels.format == .rgba8)
    }

    #if AVIF
    @Test("A stored thumbnail of high dynamic range comes back as one", .capability("COD-20", "MGR-27"))
    func bright() async throws {
        var options = EncodeOptions(quality: 1)
        options.encodeToHDR = .isoHDR
        let bright = try picture(.rgbaFloat16).with {
            $0.colorSpace = .extendedSRGB
            $0.isHighDynamicRange = true
        }
        let (made, stored) = try await load(try bright.encoded(as: .avif, options: options))
        #expect(made.pixels.format == .rgbaFloat16 && made.isHighDynamicRange)
        #expect(stored.pixels.format == .rgbaFloat16 && stored.isHighDynamicRange && stored.size == made.size)
    }
    #endif
}
