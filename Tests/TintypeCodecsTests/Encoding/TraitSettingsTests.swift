#if AVIF || HEIF || JXL || TIFF
import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs
#if HEIF
import CHEIF
#endif

@Suite("Settings of the formats behind traits", .timeLimited)
struct TraitSettingsTests {
    private func encode(
        _ image: Image, _ format: ImageFormat, psnr: Double = 28, _ change: (inout EncodeOptions) -> Void
    ) throws -> Data {
        let data = try WritableFormats.encode(image, as: format, change)
        #expect(RasterSamples.psnr(try WritableFormats.decode(data).pixels, image.pixels) > psnr)
        return data
    }

    #if AVIF
    @Test("AVIF: speed, resolution of color and quality of transparency")
    func avif() throws {
        let image = try RasterSamples.gradient(64, 64)
        let plain = try encode(image, .avif) { _ in }
        #expect(try encode(image, .avif) { $0.avif.speed = 10 } != plain)
        for subsampling in [ChromaSubsampling.full, .halfAcross] {
            #expect(try encode(image, .avif) { $0.avif.subsampling = subsampling } != plain)
        }
        let translucent = try RasterSamples.translucent(64, 64)
        let good = try WritableFormats.encode(translucent, as: .avif) { $0.avif.alphaQuality = 1 }
        let poor = try WritableFormats.encode(translucent, as: .avif) { $0.avif.alphaQuality = 0 }
        #expect(poor.count < good.count)
    }
    #endif

    #if JXL
    @Test("JPEG XL: effort, distance, and showing early")
    func jxl() throws {
        let image = try RasterSamples.gradient(64, 64)
        let plain = try encode(image, .jxl) { _ in }
        #expect(try encode(image, .jxl) { $0.jxl.effort = 1 } != plain)
        #expect(try encode(image, .jxl) { $0.progressive = true } != plain)
        let near = try encode(image, .jxl, psnr: 40) { $0.jxl.distance = 0.1 }
        let far = try encode(image, .jxl, psnr: 20) { $0.jxl.distance = 8 }
        #expect(far.count < near.count)
        let limited = try encode(image, .jxl, psnr: 15) {
            $0.jxl.distance = 0.1
            $0.maximumBytes = .bytes(far.count)
        }
        #expect(limited.count <= far.count)
    }
    #endif

    #if TIFF
    @Test("TIFF gives every pixel back, and is smaller than they are")
    func tiff() throws {
        let image = try RasterSamples.translucent(64, 48)
        let data = try WritableFormats.encode(image, as: .tiff)
        #expect(try WritableFormats.decode(data).pixels == image.pixels)
        #expect(data.count < 64 * 48 * 4)
    }
    #endif

    #if HEIF
    @Test("HEIC holds a thumbnail of 320 pixels, which thumbnails are decoded from", .capability("COD-26"))
    func heicThumbnail() throws {
        let image = try RasterSamples.gradient(480, 360)
        for isWanted in [true, false] {
            let data = try encode(image, .heic) { $0.embedsThumbnail = isWanted }
            let count = data.withUnsafeBytes { bytes in
                let context = heif_context_alloc()
                defer { heif_context_free(context) }
                _ = heif_context_read_from_memory_without_copy(context, bytes.baseAddress, bytes.count, nil)
                var handle: OpaquePointer?
                _ = heif_context_get_primary_image_handle(context, &handle)
                defer { heif_image_handle_release(handle) }
                var id: heif_item_id = 0
                guard heif_image_handle_get_list_of_thumbnail_IDs(handle, &id, 1) == 1 else { return Int32(0) }
                var thumbnail: OpaquePointer?
                _ = heif_image_handle_get_thumbnail(handle, id, &thumbnail)
                defer { heif_image_handle_release(thumbnail) }
                return heif_image_handle_get_width(thumbnail)
            }
            #expect(count == (isWanted ? 320 : 0))
            let small = try WritableFormats.decode(data) { $0.thumbnailSize = PixelSize(width: 160, height: 160) }
            #expect(RasterSamples.psnr(small.pixels, try image.pixels.resized(to: small.size)) > 30)
        }
    }
    #endif
}
#endif
