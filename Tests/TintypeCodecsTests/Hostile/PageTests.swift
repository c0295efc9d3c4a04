#if TIFF && PDF
import Foundation
import TestSupport
import Testing
import TintypeCodecs
import TintypeImages
import TintypeTesting

@Suite("Pages of documents", .timeLimited)
struct PageTests {
    /// A TIFF file whose pages are one gray pixel each.
    private func tiff(_ grays: [UInt8]) -> Data {
        var file = Data("II*\0".utf8) + ByteBuilder.little(8, 4)
        let length = 2 + 9 * 12 + 4
        for (index, gray) in grays.enumerated() {
            let start = 8 + index * (length + 2)
            let entries = [
                (256, 1), (257, 1), (258, 8), (259, 1), (262, 1), (273, start + length), (277, 1), (278, 1), (279, 1),
            ]
            file += ByteBuilder.little(entries.count, 2)
            for (tag, value) in entries {
                file += ByteBuilder.little(tag, 2) + ByteBuilder.little(4, 2) + ByteBuilder.little(1, 4)
                file += ByteBuilder.little(value, 4)
            }
            file += ByteBuilder.little(index + 1 < grays.count ? start + length + 2 : 0, 4) + Data([gray, 0])
        }
        return file
    }

    private var pdf: Data {
        var document = SamplePDF("/MediaBox [0 0 20 10]", SamplePDF.halves)
        document.objects[1].dictionary = "<< /Type /Pages /Kids [3 0 R 5 0 R] /Count 2 >>"
        document.objects.append(("<< /Type /Page /Parent 2 0 R /Contents 4 0 R /MediaBox [0 0 10 30] >>", nil))
        return document.data
    }

    @Test("Each page of a TIFF decodes by its index, and the header tells their number", .capability("COD-61"))
    func tiffPages() throws {
        let data = tiff([10, 20, 30])
        let coder = TIFFCoder()
        #expect(try coder.info(data).pageCount == 3)
        for (page, gray) in [UInt8(10), 20, 30].enumerated() {
            #expect(try coder.decode(data) { $0.page = page }.pixels[0, 0] == SIMD4(gray, gray, gray, 255))
        }
    }

    @Test("The header of a TIFF is complete when its last page has arrived", .capability("COD-61"))
    func arrivingPages() throws {
        let data = tiff([10, 20, 30])
        #expect(try TIFFCoder().info(data).isComplete)
        let start = try TIFFCoder().info(data.prefix(200))
        #expect(!start.isComplete && start.pageCount == 2)
    }

    @Test("A chain of pages that leads back to itself ends", .capability("COD-61"))
    func circle() throws {
        var data = tiff([10, 20])
        // The second page is followed by the first.
        let link = data.count - 6
        data.replaceSubrange(link..<link + 4, with: ByteBuilder.little(8, 4))
        #expect(try TIFFCoder().info(data).pageCount == 2)
        #expect(try TIFFCoder().decode(data) { $0.page = 1 }.pixels[0, 0].x == 20)
    }

    @Test("Each page of a PDF decodes by its index", .capability("COD-61"))
    func pdfPages() throws {
        let coder = PDFCoder()
        #expect(try coder.info(pdf).pageCount == 2)
        #expect(try coder.decode(pdf).size == PixelSize(width: 20, height: 10))
        #expect(try coder.decode(pdf) { $0.page = 1 }.size == PixelSize(width: 10, height: 30))
    }

    @Test(
        "A page out of range is an error that tells the number of pages", .capability("COD-61"),
        arguments: [-1, 7, .max])
    func range(page: Int) throws {
        let documents: [(any ImageCoder, Data, String)] = [
            (TIFFCoder(), tiff([10, 20, 30]), "3 pages"), (PDFCoder(), pdf, "2 pages"),
            (TIFFCoder(), tiff([1]), "1 page"),
        ]
        for (coder, data, count) in documents {
            let error = #expect(throws: ImageError.self) { try coder.decode(data) { $0.page = page } }
            #expect(error?.code == .pageOutOfRange && error?.reason.contains(count) == true)
        }
    }
}
#endif
