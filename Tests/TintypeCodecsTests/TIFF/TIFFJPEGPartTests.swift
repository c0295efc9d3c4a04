#if TIFF
import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("TIFF of JPEG strips", .timeLimited)
struct TIFFJPEGPartTests {
    private func file(_ strip: HandmadeJPEG, photometric: Int) -> Data {
        var tiff = HandmadeTIFF(16, 16)
        tiff.compression = 7
        tiff.photometric = photometric
        return tiff.data(parts: [[UInt8](strip.data)], samples: strip.values.count)
    }

    @Test(
        "A strip that is narrower or lower than the page is an error",
        arguments: [(5, [UInt8](repeating: 90, count: 4)), (1, [90])])
    func smallStrips(photometric: Int, values: [UInt8]) throws {
        for (width, height) in [(8, 16), (16, 8), (1, 1)] {
            let strip = HandmadeJPEG(width: width, height: height, values: values)
            let error = #expect(throws: ImageError.self) {
                try TIFFCoder().decode(file(strip, photometric: photometric))
            }
            #expect(error?.code == .corruptImage && error?.reason.contains("16x16") == true, "\(error as Any)")
        }
    }

    @Test("Strips that share the bytes of a long header are damaged, and aren't searched again and again")
    func sharedStrips() throws {
        var strip = HandmadeJPEG(width: 16, height: 1, values: [90])
        strip.segments = [(0xFE, [UInt8](repeating: 0, count: 60_000))]
        var tiff = HandmadeTIFF(16, 400)
        tiff.compression = 7
        tiff.rowsPerStrip = 1
        tiff.sharesFirstStrip = true
        let data = tiff.data(parts: Array(repeating: [UInt8](strip.data), count: 400), samples: 1)
        let error = #expect(throws: ImageError.self) { try TIFFCoder().decode(data) }
        #expect(error?.code == .corruptImage && error?.reason.contains("share") == true, "\(error as Any)")
    }

    @Test("Progressive strips, each of whose scans costs a pass that can't be canceled, are refused in a large page")
    func progressiveStrips() throws {
        var strip = HandmadeJPEG(width: 16, height: 16, values: [90]).data
        let frame = try #require(strip.firstRange(of: [0xFF, 0xC0]))
        strip[frame.lowerBound + 1] = 0xC2
        var tall = strip
        // The height and the width, which may be larger than the page's.
        tall.replaceSubrange(frame.upperBound + 3..<frame.upperBound + 7, with: [0x10, 0, 0x20, 0])
        for (strip, width, height) in [(strip, 8_192, 4_096), (tall, 16, 16)] {
            var tiff = HandmadeTIFF(width, height)
            tiff.compression = 7
            tiff.rowsPerStrip = height
            let data = tiff.data(parts: [[UInt8](strip)], samples: 1)
            let error = #expect(throws: ImageError.self) { try TIFFCoder().decode(data) }
            #expect(error?.code == .limitExceeded && error?.reason.contains("progressive") == true, "\(error as Any)")
        }
    }

    @Test("A strip of the page's size is decoded")
    func wholeStrips() throws {
        for (photometric, count) in [(5, 4), (1, 1)] {
            let strip = HandmadeJPEG(width: 16, height: 16, values: [UInt8](repeating: 90, count: count))
            #expect(try TIFFCoder().decode(file(strip, photometric: photometric)).size.width == 16)
        }
    }
}
#endif
