import Foundation
import TestSupport
import Testing
import Tintype

/// Files of public bug reports, in the folder `public-reports` of the corpora, and what two other programs make of each.
@Suite(
    "Public reports", .timeLimited,
    .enabled(if: PublicReport.folder != nil, "TINTYPE_CORPORA is not set, or has no public-reports"))
struct PublicReportTests {
    @Test("A file has the size and the pixels that other programs give it", arguments: PublicReport.all)
    func file(report: PublicReport) throws {
        let data = try report.data()
        let info = try ImageInfo(data: data)
        #expect(report.box != nil || info.displaySize == report.size)
        let image = try Image(data: data, options: DecodeOptions(thumbnailSize: report.box))
        #expect(image.size == report.size && !image.isPartial)
        #expect(image.hasAlpha || !report.isTranslucent)
        if report.isTranslucent { #expect(info.hasAlpha && image.alphas.contains { $0 < 255 }) }
        for pixel in report.pixels {
            let color = try #require(image.color(x: pixel.x, y: pixel.y)).bytes
            let isNear = (0..<4).allSatisfy { abs(Int(color[$0]) - Int(pixel.color[$0])) <= pixel.tolerance }
            #expect(isNear, "\(pixel.x), \(pixel.y): \(color), not \(pixel.color)")
        }
        // Drawn, not blank.
        #expect(image.format != .pdf || image.alphas.count > 0 && image.colorCount > 1)
    }

    @Test(
        "Bytes that begin like a JPEG go to its reader, which says what is missing: this one has no quantization tables"
    )
    func unreadable() throws {
        let data = try PublicReport(name: "bug775218.jpg").data()
        let error = #expect(throws: ImageError.self) { try Image(data: data) }
        #expect(error?.code == .corruptImage && error?.reason.contains("uantization") == true)
    }

    @Test(
        "data: URLs that were written by hand or by a build tool are images",
        arguments: [("data_svg_raw.txt", 8), ("data_svg_minified.txt", 8), ("data_space_base64.txt", 5)])
    func dataURL(name: String, side: Int) async throws {
        let folder = try #require(PublicReport.folder)
        let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
        let request = try ImageRequest(string: text.trimmingCharacters(in: .newlines))
        let image = try await ImageManager(cache: ImageCache()).image(for: request)
        #expect(image.size == PixelSize(width: side, height: side) && image.colorCount == 1)
        #expect(image.color(x: 1, y: 1)?.bytes == [200, 30, 60, 255])
    }

    @Test("Repetitions are counted as browsers do, from GIF to WebP and back")
    func loops() throws {
        let gif = try Image(data: PublicReport(name: "gif_loop3.gif").data())
        #expect(gif.loopCount == 4)
        #expect(try ImageInfo(data: gif.encoded(as: .webp)).loopCount == 4)
        let webp = try Image(data: PublicReport(name: "webp_loop2.webp").data())
        let written = try webp.encoded(as: .gif)
        #expect(written.firstRange(of: Data("NETSCAPE2.0".utf8) + [3, 1, 1, 0, 0]) != nil)
    }

    @Test("A picture is the same in one piece and while it arrives, wherever its profile stands")
    func lateProfile() throws {
        let data = try PublicReport(name: "C14-webp-late-icc.webp").data()
        let whole = try Image(data: data)
        let decoder = try ImageCoders.default.progressiveDecoder(options: DecodeOptions(), context: ProcessingContext())
        for byte in data {
            try decoder.append(Data([byte]))
            _ = try decoder.preview()
        }
        #expect(try decoder.finish().pixels == whole.pixels)
    }

    @Test("A drawing that takes minutes has its header, and ends in time with a clear error")
    func slowShading() throws {
        let data = try PublicReport(name: "function_based_shading.pdf").data()
        #expect(try ImageInfo(data: data).size == PixelSize(width: 612, height: 792))
        var isolation = DecoderIsolation()
        isolation.timeLimit = .seconds(2)
        let coders = ImageCoders.default.isolated(.all, by: isolation)
        do {
            #expect(try Image(data: data, coders: coders).size == PixelSize(width: 612, height: 792))
        } catch {
            #expect(error.code == .decodeTimedOut && error.reason.contains("longer"))
        }
    }
}

/// One row of the table.
struct PublicReport: Sendable, CustomTestStringConvertible {
    struct Pixel: Sendable {
        var x: Int
        var y: Int
        /// Not premultiplied.
        var color: SIMD4<UInt8>
        var tolerance = 0
    }

    var name: String
    var size = PixelSize(width: 0, height: 0)
    var pixels: [Pixel] = []
    var isTranslucent = false
    /// The box of the thumbnail that is asked for.
    var box: PixelSize?

    var testDescription: String { name }

    static let folder: URL? = Corpora.folder?.appendingPathComponent("public-reports").existing

    func data() throws -> Data { try Data(contentsOf: #require(Self.folder).appendingPathComponent(name)) }

    private init(
        _ name: String, _ width: Int, _ height: Int, _ pixels: [Pixel] = [], isTranslucent: Bool = false,
        box: PixelSize? = nil
    ) {
        self.name = name
        size = PixelSize(width: width, height: height)
        (self.pixels, self.isTranslucent, self.box) = (pixels, isTranslucent, box)
    }

    init(name: String) { self.name = name }

    private static let green = Pixel(x: 10, y: 5, color: [0, 170, 0, 255])
    private static let paper = Pixel(x: 3, y: 3, color: [255, 255, 255, 255], tolerance: 2)

    private static func ink(_ x: Int, _ y: Int) -> Pixel {
        Pixel(x: x, y: y, color: [40, 40, 40, 255], tolerance: 40)
    }

    static let all = [
        PublicReport("ios18_tmap.heic", 96, 64),
        PublicReport(
            "rgb_palette_alpha.tiff", 400, 300, [Pixel(x: 5, y: 5, color: [0, 0, 0, 0])], isTranslucent: true),
        PublicReport("input_gray_4bit_matte.tiff", 70, 46, isTranslucent: true),
        PublicReport(
            "rgb4_extra0.tif", 56, 40,
            [
                Pixel(x: 50, y: 30, color: [231, 196, 217, 60], tolerance: 3),
                Pixel(x: 5, y: 5, color: [23, 32, 27, 60], tolerance: 3),
            ], isTranslucent: true),
        PublicReport("cmyk_noadobe.jpg", 16, 16, [Pixel(x: 8, y: 8, color: [207, 69, 180, 255], tolerance: 2)]),
        PublicReport(
            "prog_samsung_noeoi_trailer.jpg", 200, 160,
            [
                Pixel(x: 8, y: 8, color: [220, 40, 41, 255], tolerance: 3),
                Pixel(x: 120, y: 8, color: [39, 200, 60, 255], tolerance: 3),
                Pixel(x: 8, y: 90, color: [40, 70, 220, 255], tolerance: 3),
                Pixel(x: 120, y: 90, color: [241, 220, 51, 255], tolerance: 3),
            ]),
        PublicReport("x_ns0_elementtree.svg", 20, 10, [green]),
        PublicReport("x_long_comment.svg", 20, 10, [green]),
        PublicReport(
            "logo.svgz", 736, 552,
            [Pixel(x: 314, y: 146, color: [0, 0, 0, 255]), Pixel(x: 3, y: 3, color: [0, 0, 0, 0])]),
        PublicReport("w_vb.svg", 40, 20),
        PublicReport("huge.svg", 400, 400, box: PixelSize(width: 400, height: 400)),
        PublicReport(
            "api-resize-fit.svg", 998, 243,
            [
                Pixel(x: 25, y: 33, color: [100, 190, 216, 255], tolerance: 1),
                Pixel(x: 71, y: 61, color: [253, 218, 66, 255], tolerance: 1),
            ]),
        // Text, which `pdftoppm -r 72 -cropbox` smooths in its own way.
        PublicReport("issue6069.pdf", 400, 50, [ink(231, 26), paper]),
        PublicReport("bug1606566.pdf", 200, 50, [ink(80, 22), paper]),
        PublicReport("scan-bad.pdf", 612, 792, [ink(69, 62), paper]),
        PublicReport("reserved_nonzero.ico", 16, 16),
        PublicReport("C17-pillow-rgb.ico", 16, 16),
    ]
}

extension URL {
    fileprivate var existing: URL? { FileManager.default.fileExists(atPath: path) ? self : nil }
}

extension PixelColor {
    fileprivate var bytes: SIMD4<UInt8> {
        SIMD4([red, green, blue, alpha].map { UInt8(min(max($0, 0), 1) * 255 + 0.5) })
    }
}

extension Image {
    fileprivate var alphas: [UInt8] {
        (0..<size.height).flatMap { y in (0..<size.width).map { pixels[$0, y].w } }
    }

    /// The number of different colors.
    fileprivate var colorCount: Int {
        Set((0..<size.height).flatMap { y in (0..<size.width).map { pixels[$0, y] } }).count
    }
}
