#if PDF
import Foundation
import TestSupport
import Testing
import TintypeCodecs
import TintypeImages
import TintypeTesting

@Suite("PDF", .timeLimited)
struct PDFCoderTests {
    let coder = PDFCoder()

    @Test("The first page at 72 dpi: a point is a pixel, on white paper", .capability("COD-48", "MET-04"))
    func page() throws {
        let data = SamplePDF("/MediaBox [0 0 20 10]", SamplePDF.halves).data
        #expect(ImageFormat(sniffing: data) == .pdf)
        let info = try coder.info(data)
        #expect(info.format == .pdf && info.size == PixelSize(width: 20, height: 10) && !info.hasAlpha)
        let image = try coder.decode(data)
        #expect(image.format == .pdf && image.size == info.size)
        #expect(image.isVector && !image.isPartial && !image.hasAlpha)
        #expect(image.pixels[2, 2] == red && image.pixels[15, 2] == blue && image.pixels[15, 8] == white)
    }

    @Test(
        "The page is what viewers show: its crop box, turned as it says, rounded up", .capability("COD-48"),
        arguments: [
            ("/MediaBox [0 0 20 10] /CropBox [10 0 20 10]", 10, 10), ("/MediaBox [0 0 20 10] /Rotate 90", 10, 20),
            ("/MediaBox [0 0 19.2 9.5]", 20, 10), ("/MediaBox [100 100 130 140]", 30, 40),
        ])
    func size(page: String, width: Int, height: Int) throws {
        let data = SamplePDF(page, SamplePDF.halves).data
        #expect(try coder.info(data).size == PixelSize(width: width, height: height))
        #expect(try coder.decode(data).size == PixelSize(width: width, height: height))
    }

    @Test("A turned page is drawn upright", .capability("COD-48"))
    func rotation() throws {
        let image = try coder.decode(SamplePDF("/MediaBox [0 0 20 10] /Rotate 90", SamplePDF.halves).data)
        // Clockwise: the left half comes to the top.
        #expect(image.pixels[5, 5] == red && image.pixels[7, 15] == blue && image.pixels[2, 15] == white)
    }

    @Test("A box is filled, upwards too, and drawn sharply at that size", .capability("COD-48"))
    func box() throws {
        let data = SamplePDF("/MediaBox [0 0 20 10]", SamplePDF.halves).data
        let large = try coder.decode(data) { $0.thumbnailSize = PixelSize(width: 200, height: 200) }
        #expect(large.size == PixelSize(width: 200, height: 100))
        #expect(large.pixels[99, 50] == red && large.pixels[100, 49] == blue && large.pixels[100, 50] == white)
        let stretched = try coder.decode(data) {
            $0.thumbnailSize = PixelSize(width: 40, height: 40)
            $0.preservesAspectRatio = false
        }
        #expect(stretched.size == PixelSize(width: 40, height: 40) && stretched.pixels[30, 15] == blue)
    }

    @Test("A page of a fraction of a point keeps its shape in a box, and a huge one has a thumbnail")
    func extremeSizes() throws {
        let data = SamplePDF("/MediaBox [0 0 0.5 10]", SamplePDF.halves).data
        #expect(try coder.decode(data).size == PixelSize(width: 1, height: 10))
        let tall = try coder.decode(data) { $0.thumbnailSize = PixelSize(width: 1_000, height: 1_000) }
        #expect(tall.size == PixelSize(width: 50, height: 1_000))
        let huge = SamplePDF("/MediaBox [0 0 1036800 518400]", "1 0 0 rg 0 0 1036800 518400 re f").data
        expectCode(.limitExceeded) { try coder.decode(huge) }
        let small = try coder.decode(huge) { $0.thumbnailSize = PixelSize(width: 100, height: 100) }
        #expect(small.size == PixelSize(width: 100, height: 50) && small.pixels[50, 25] == red)
    }

    @Test("Files that a stream refers to are not read")
    func externalStream() throws {
        let folder = try TemporaryDirectory()
        let secret = folder.url.appending(path: "secret")
        try Data("0 1 0 rg 0 0 20 10 re f".utf8).write(to: secret)
        var file = SamplePDF("/MediaBox [0 0 20 10]", "")
        file.objects[3] = ("<< /Length 0 /F (\(secret.path)) >>", "")
        #expect(try coder.decode(file.data).pixels[5, 5] == white)
    }

    @Test("A document that needs a password says so")
    func encrypted() throws {
        var file = SamplePDF("/MediaBox [0 0 20 10]", SamplePDF.halves)
        let entry = "<" + String(repeating: "5A", count: 32) + ">"
        file.objects.append(("<< /Filter /Standard /V 1 /R 2 /O \(entry) /U \(entry) /P -4 >>", nil))
        file.trailer = "/Encrypt 5 0 R /ID [<00112233445566778899AABBCCDDEEFF> <00112233445566778899AABBCCDDEEFF>]"
        let error = #expect(throws: ImageError.self) { try coder.decode(file.data) }
        #expect(error?.code == .corruptImage && error?.reason.contains("password") == true)
    }

    @Test("Limits and cancellation are kept, and a document that is cut says so")
    func refusals() throws {
        let drawing = String(repeating: SamplePDF.halves + "\n", count: 20)
        let data = SamplePDF("/MediaBox [0 0 64 64]", drawing).data
        TraitCoderChecks.expectLimits(coder, data)
        TraitCoderChecks.expectTruncation(coder, data)
        for side in ["40000", "100000000"] {
            let huge = SamplePDF("/MediaBox [0 0 \(side) 10]", SamplePDF.halves).data
            expectCode(.limitExceeded) { try coder.decode(huge) }
        }
        expectCode(.limitExceeded) { try coder.decode(Data(count: PDFCoder.maximumBytes + 1)) }
    }

    @Test("What stands before and after a document is no damage")
    func surroundings() throws {
        let data = SamplePDF("/MediaBox [0 0 20 10]", SamplePDF.halves).data
        let surrounded = Data("some lines of a mail\r\n".utf8) + data + Data(count: 11_000)
        let image = try ImageCoders([coder]).decode(surrounded, options: DecodeOptions())
        #expect(!image.isPartial && image.size == PixelSize(width: 20, height: 10) && image.pixels[2, 2] == red)
        #expect(try coder.decode(data + Data(count: 100_000)).pixels[2, 2] == red)
    }

    @Test("A document for the web, which has an end after its first page, is cut until it has its own")
    func linearized() throws {
        var file = SamplePDF("/MediaBox [0 0 20 10]", SamplePDF.halves)
        file.preamble = "% << /Linearized 1 >>\nstartxref\n0\n%%EOF\n"
        #expect(try coder.decode(file.data).pixels[2, 2] == red)
        #expect(try coder.decode(file.data + Data(count: 50_000)).pixels[2, 2] == red)
        expectCode(.truncatedImage) { try coder.decode(file.data.prefix(file.data.count - 60)) }
    }

    @Test("A page of a document whose end is missing is drawn on demand, and marked")
    func partial() throws {
        // As in files for the web, a trailer stands at the beginning too.
        var file = SamplePDF("/MediaBox [0 0 20 10]", SamplePDF.halves)
        file.objects.append(("<< /Length 400 >>", String(repeating: " ", count: 400)))
        file.preamble = "trailer\n<< /Size 6 /Root 1 0 R >>\n"
        let cut = file.data.prefix(file.data.count * 2 / 3)
        let image = try coder.decode(Data(cut)) { $0.allowsPartialImage = true }
        #expect(image.isPartial && image.pixels[2, 2] == red)
    }

    @Test("A document without its end is drawn if its trailer follows all objects")
    func endless() throws {
        let whole = SamplePDF("/MediaBox [0 0 20 10]", SamplePDF.halves).data
        let trailer = try #require(whole.firstRange(of: Data("/Root 1 0 R".utf8))).upperBound
        for count in 1...whole.count {
            let cut = Data(whole.prefix(count))
            if count < trailer {
                expectCode(.truncatedImage) { try coder.decode(cut) }
            } else {
                let image = try coder.decode(cut)
                #expect(!image.isPartial && image.pixels[2, 2] == red && image.pixels[15, 2] == blue)
                #expect(try coder.info(cut).isComplete)
            }
        }
        // Damage in place of the end.
        let damaged = whole.prefix(trailer) + Data("/ID [<904e\u{80}".utf8)
        #expect(try coder.decode(Data(damaged)).pixels[2, 2] == red)
        // Objects behind the trailer, as in a document for the web: more of them may be missing.
        let behind = Data(whole.prefix(trailer)) + Data(" >>\n9 0 obj\n<< >>\nendobj\n".utf8)
        expectCode(.truncatedImage) { try coder.decode(behind) }
        let partial = try coder.decode(behind) { $0.allowsPartialImage = true }
        #expect(partial.isPartial && partial.pixels[2, 2] == red)
    }

    @Test("A font whose glyph draws itself is damage, and the page is drawn up to it on demand")
    func glyphCircle() throws {
        let glyph = "1000 0 d0 0 1 0 rg 0 0 500 1000 re f BT /F 500 Tf (a) Tj ET"
        let data = SamplePDF(
            "/MediaBox [0 0 20 20] /Resources << /Font << /F 5 0 R >> >>",
            "1 0 0 rg 0 0 10 10 re f BT /F 10 Tf 10 0 Td (a) Tj ET 0 0 1 rg 0 10 20 10 re f",
            extra: [
                (
                    """
                    << /Type /Font /Subtype /Type3 /FontBBox [0 0 1000 1000] /FontMatrix [.001 0 0 .001 0 0] \
                    /FirstChar 97 /LastChar 97 /Widths [1000] /Encoding << /Type /Encoding /Differences [97 /a] >> \
                    /CharProcs << /a 6 0 R >> /Resources << /Font << /F 5 0 R >> >> >>
                    """, nil
                ), ("<< /Length \(glyph.utf8.count) >>", glyph),
            ]
        ).data
        expectCode(.corruptImage) { try coder.decode(data) }
        let image = try coder.decode(data) { $0.allowsPartialImage = true }
        #expect(image.isPartial && image.pixels[5, 15] == red)
    }

    @Test("Circles of pages and forms end, and documents without a page are refused")
    func circles() throws {
        var circle = SamplePDF("/MediaBox [0 0 20 10]", SamplePDF.halves)
        circle.objects[1] = ("<< /Type /Pages /Kids [2 0 R] /Count 1 >>", nil)
        #expect(throws: ImageError.self) { try coder.decode(circle.data) }
        var empty = circle
        empty.objects[1] = ("<< /Type /Pages /Kids [] /Count 0 >>", nil)
        #expect(throws: ImageError.self) { try coder.decode(empty.data) }
        let form = SamplePDF(
            "/MediaBox [0 0 20 10] /Resources << /XObject << /F 5 0 R >> >>", "/F Do",
            extra: [
                (
                    "<< /Type /XObject /Subtype /Form /BBox [0 0 20 10] /Length 5 /Resources << /XObject << /F 5 0 R >> >> >>",
                    "/F Do"
                )
            ])
        #expect(try coder.decode(form.data).pixels[5, 5] == white)
    }

    @Test("Damage ends in an image or an error")
    func damage() throws {
        try coder.survives(
            damageTo: SamplePDF("/MediaBox [0 0 20 10]", SamplePDF.halves).data, cases: 400, seed: 52)
    }
}
#endif
