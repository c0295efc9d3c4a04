import Foundation
import TestSupport
import Testing
import Tintype

/// Every file of the corpora, where `TINTYPE_CORPORA` names their folder.
@Suite("Conformance", .timeLimited, .enabled(if: Corpora.folder != nil, "TINTYPE_CORPORA is not set"))
struct ConformanceTests {
    @Test("JPEG", arguments: Corpora.files("jpeg"))
    func jpeg(file: CorpusFile) { check(file) }

    @Test("PNG and APNG", arguments: Corpora.files("png"))
    func png(file: CorpusFile) { check(file) }

    @Test("GIF", arguments: Corpora.files("gif"))
    func gif(file: CorpusFile) { check(file) }

    @Test("WebP", arguments: Corpora.files("webp"))
    func webp(file: CorpusFile) { check(file) }

    @Test("BMP", arguments: Corpora.files("bmp"))
    func bmp(file: CorpusFile) { check(file) }

    @Test("ICO and CUR", arguments: Corpora.files("ico", "cur"))
    func ico(file: CorpusFile) { check(file) }

    @Test("Files that are no image", arguments: Corpora.files("?"))
    func others(file: CorpusFile) { check(file) }

    @Test(
        "Formats of package traits are decoded, or refused by name",
        arguments: Corpora.files("avif", "heif", "jxl", "tiff", "bigtiff", "svg"))
    func traits(file: CorpusFile) throws {
        let data = try file.data()
        if let format = ImageFormat(sniffing: data), !ImageCoders.default.decodableFormats.contains(format) {
            let error = #expect(throws: ImageError.self) { try Image(data: data) }
            #expect(error?.code == .formatNotEnabled)
            ConformanceReport.add(file, "refused")
        } else {
            check(file)
        }
    }

    @Test("Photographs decode in full, as thumbnails, and not larger than the box", arguments: Corpora.photos)
    func photos(url: URL) throws {
        let data = try Data(contentsOf: url)
        let box = PixelSize(width: 400, height: 400)
        let info = try ImageInfo(data: data)
        let thumbnail = try Image(data: data, options: DecodeOptions(thumbnailSize: box))
        #expect(thumbnail.size == info.displaySize.scaled(into: box))
        #expect(try Image(data: data).size == info.displaySize)
    }

    private func check(_ file: CorpusFile) {
        var check = ConformanceCheck(file)
        check.run()
        #expect(check.problems.isEmpty, "\(check.problems.joined(separator: "; "))")
        let isDecided = Decision.table[file.path] != nil
        let outcome = check.problems.isEmpty ? isDecided ? "decided" : "passed" : "failed"
        ConformanceReport.add(file, outcome, check.problems)
    }
}
