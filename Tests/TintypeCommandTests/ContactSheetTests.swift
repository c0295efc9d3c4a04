import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import CommandSupport
@testable import TintypeCommand
@testable import TintypeDemo

@Suite("Contact sheet and samples", .timeLimited)
struct ContactSheetTests {
    private func sheet() throws -> ContactSheet {
        let still = try Image(data: picture(width: 120, height: 80).encoded(as: .jpeg))
        let transparent = try Image(data: picture(alpha: true).encoded(as: .png))
        let moving = try Image(data: animation().encoded(as: .gif))
        return ContactSheet(
            title: "A <b> & \"c\"", subtitle: "three",
            entries: [
                .init(
                    name: "<script>alert(1)</script>.jpg", image: still, bytes: 1_000,
                    times: [("cold", .milliseconds(3))]),
                .init(name: "b.png", image: transparent, bytes: 2_000),
                .init(name: String(repeating: "long ", count: 50), image: moving, bytes: 3_000),
            ], omitted: 2)
    }

    @Test("The picture can be decoded and shows the thumbnails")
    func decodable() throws {
        let image = try Image(data: sheet().picture().encoded(as: .png))
        #expect(image.size.width >= 500 && image.size.height > 200 && !image.hasAlpha)
        var colors = Set<SIMD4<UInt8>>()
        for y in stride(from: 0, to: image.size.height, by: 3) {
            for x in stride(from: 0, to: image.size.width, by: 3) { colors.insert(image.pixels[x, y]) }
        }
        #expect(colors.count > 500)
    }

    @Test("The page contains every thumbnail, needs no other files, and escapes names")
    func page() throws {
        let page = try sheet().page()
        #expect(page.components(separatedBy: "<figure>").count == 4)
        #expect(!page.contains("<script") && page.contains("&lt;script&gt;") && page.contains("A &lt;b&gt; &amp;"))
        #expect(!page.contains("http://") && !page.contains("https://"))
        #expect(page.contains("2 more images") && page.contains("cold 3.0 ms"))
        let sources = page.components(separatedBy: "src=\"data:").dropFirst()
        #expect(sources.count == 3)
        let formats = try sources.map { source -> ImageFormat? in
            let base64 = try required(
                source.components(separatedBy: "base64,").last?.components(separatedBy: "\"").first)
            return try Image(data: required(Data(base64Encoded: base64))).format
        }
        #expect(formats == [.jpeg, .webp, .webp])
    }

    @Test("A sheet can have a single image, or none")
    func few() throws {
        var sheet = try sheet()
        sheet.entries = Array(sheet.entries.prefix(1))
        #expect(try !sheet.picture().size.isEmpty)
        sheet.entries = []
        #expect(try !sheet.picture().size.isEmpty)
    }

    @Test("A text that is too long is shortened in the middle")
    func fittedText() {
        #expect(StrokeFont.fitted("short.png", width: 100) == "short.png")
        let fitted = StrokeFont.fitted("a-very-long-name-of-a-file.jpeg", width: 60)
        #expect(fitted.contains("…") && fitted.hasPrefix("a") && fitted.hasSuffix("g"))
        #expect(StrokeFont.width(fitted) <= 60)
    }

    @Test("Every sample has the properties that its name states")
    func samples() throws {
        let samples = try SampleImages.all(scale: 0.06)
        #expect(samples.count >= 20 && Set(samples.map(\.name)).count == samples.count)
        for sample in samples {
            let info = try ImageInfo(data: sample.data)
            let image = try Image(data: sample.data)
            #expect(info.format == sample.format, "\(sample.name)")
            #expect(image.size == sample.size && info.displaySize == sample.size, "\(sample.name)")
            #expect(image.frames.count == sample.frameCount && info.frameCount == sample.frameCount, "\(sample.name)")
        }
        let formats = Set(samples.map(\.format))
        // Those that no package trait brings.
        #expect(formats == ImageCoders.default.decodableFormats.filter { $0.trait == nil })
    }

    @Test("Samples of every orientation show the same picture")
    func orientations() throws {
        let turned = try SampleImages.all(scale: 0.2).filter { $0.name.hasPrefix("orientation-") }
        #expect(turned.count == 4)
        for sample in turned {
            let image = try Image(data: sample.data)
            // The orange dot is at the top right.
            let color = image.pixels[image.size.width - image.size.height * 15 / 100, image.size.height * 15 / 100]
            #expect(color.x > 200 && color.z < 120, "\(sample.name) \(color)")
        }
    }
}
