#if SVG
import Foundation
import TestSupport
import Testing
import TintypeCodecs
import TintypeImages
import TintypeTesting

@Suite("SVG", .timeLimited)
struct SVGCoderTests {
    let coder = SVGCoder()

    private func svg(_ attributes: String, _ body: String = "", before: String = "") -> Data {
        Data(
            """
            \(before)<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" \
            \(attributes)>\(body)</svg>
            """.utf8)
    }

    private let halves =
        "<rect width='50%' height='100%' fill='#f00'/><rect x='50%' width='50%' height='50%' fill='#00f'/>"

    @Test("Colors are red, green, blue, and what is not drawn is clear")
    func colors() throws {
        let image = try coder.decode(svg("width='20' height='10'", halves))
        #expect(image.size == PixelSize(width: 20, height: 10) && image.properties.isVector && image.hasAlpha)
        #expect(image.pixels[2, 2] == red && image.pixels[15, 2] == blue && image.pixels[15, 8] == clear)
        let half = try coder.decode(
            svg("width='2' height='2'", "<rect width='2' height='2' fill='#fff' opacity='.5'/>"))
        let pixel = half.pixels[0, 0]
        #expect(pixel.x == pixel.w && (127...128).contains(pixel.w))
    }

    @Test("A drawing is a still vector image, also one that says that it moves", .capability("COD-53", "MET-04"))
    func still() throws {
        let moving = "<rect width='9' height='9'><animate attributeName='x' from='0' to='9' dur='1s'/></rect>"
        let data = svg("width='20' height='10'", halves + moving)
        let image = try coder.decode(data)
        #expect(image.isVector && !image.isAnimated && image.format == .svg)
        #expect(try coder.info(data).frameCount == 1)
        let coders = ImageCoders([coder])
        #expect(try coders.frameDecoder(for: data, options: DecodeOptions(), context: ProcessingContext()) == nil)
        let bitmap = try image.transformed(HalfSize())
        #expect(bitmap.size.width == 10 && bitmap.isTransformed)
    }

    private struct HalfSize: ImageTransformer {
        let key = "half"
        func transform(_ image: Image) throws -> Image {
            try image.resized(to: PixelSize(width: image.size.width / 2, height: image.size.height / 2))
        }
    }

    @Test("No color is above its alpha, as rounding leaves some of a turned pattern")
    func premultiplied() throws {
        let body = """
            <pattern id='p' patternUnits='userSpaceOnUse' width='20' height='20' patternTransform='rotate(30)'>
            <rect width='10' height='10' fill='grey'/><rect x='10' y='10' width='10' height='10' fill='green'/></pattern>
            <rect x='20' y='20' width='160' height='160' rx='20' fill='url(#p)' stroke='darkblue'/>
            """
        let pixels = try coder.decode(svg("width='200' height='200'", body)).pixels
        for y in 0..<200 {
            for x in 0..<200 {
                let pixel = pixels[x, y]
                #expect(pixel.x <= pixel.w && pixel.y <= pixel.w && pixel.z <= pixel.w)
            }
        }
    }

    @Test(
        "The size is the stated one, or the viewBox's",
        arguments: [
            ("width='30' height='40'", 30, 40), ("viewBox='0 0 70 50'", 70, 50), ("width='1in' height='72pt'", 96, 96),
            ("width='40' viewBox='0 0 20 10'", 40, 20), ("height='1in' viewBox='0 0 10 20'", 48, 96),
            ("width='50%' viewBox='0 0 20 10'", 20, 10), ("width='10em' viewBox='0 0 100 80'", 120, 96),
            ("height='10ex' viewBox='0 0 10 20'", 30, 60),
            ("width='10.2' height='5'", 11, 5), ("width='100%' height='100%' viewBox='0 0 8 9'", 8, 9),
        ])
    func size(attributes: String, width: Int, height: Int) throws {
        #expect(try coder.info(svg(attributes, halves)).size == PixelSize(width: width, height: height))
    }

    /// A gzip file (RFC 1952) whose blocks are stored.
    private func gzip(_ data: Data, hasChecksum: Bool = true) -> Data {
        var file = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255])
        func append(_ number: Int, _ bytes: Int) {
            for byte in 0..<bytes { file.append(UInt8(number >> (8 * byte) & 255)) }
        }
        var rest = data[...]
        repeat {
            let block = rest.prefix(65_535)
            rest = rest.dropFirst(block.count)
            file.append(rest.isEmpty ? 1 : 0)
            append(block.count, 2)
            append(~block.count & 0xFFFF, 2)
            file.append(contentsOf: block)
        } while !rest.isEmpty
        let checksum = (hasChecksum ? data : Data()).reduce(UInt32.max) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { value, _ in value >> 1 ^ (value & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        append(Int(~checksum), 4)
        append(data.count & 0xFFFF_FFFF, 4)
        return file
    }

    @Test(
        "Compressed documents, with a prefix, and behind a long comment are drawn",
        .capability("COD-53"))
    func forms() throws {
        let plain = svg("width='20' height='10'", halves)
        let prefixed =
            "<s:svg xmlns:s='http://www.w3.org/2000/svg' width='20' height='10'><s:rect width='20' height='10' fill='#f00'/></s:svg>"
        let long = "<!-- " + String(repeating: "x", count: 9_000) + " -->"
        let coders = ImageCoders([coder])
        for data in [gzip(plain), Data(prefixed.utf8), Data(long.utf8) + plain] {
            let image = try coders.decode(data, options: DecodeOptions())
            #expect(image.size == PixelSize(width: 20, height: 10) && image.pixels[2, 2] == red)
        }
        let embedded = svg(
            "width='20' height='10'",
            "<image width='20' height='10' xlink:href='data:image/svg+xml;base64,\(gzip(plain).base64EncodedString())'/>"
        )
        #expect(try coder.info(embedded).size.width == 20)
    }

    @Test(
        "Documents in UTF-16 and UTF-32 are drawn, with and without a byte order mark, whatever encoding they declare",
        .capability("COD-53"), arguments: [2, 4], [true, false])
    func encodings(bytesPerUnit: Int, isBigEndian: Bool) throws {
        let markup = String(decoding: svg("width='20' height='10'", halves + "<!-- 🚋 -->"), as: UTF8.self)
        func encoded(_ text: String) -> Data {
            let units = bytesPerUnit == 2 ? text.utf16.map { Int($0) } : text.unicodeScalars.map { Int($0.value) }
            return units.reduce(into: Data()) {
                $0 += isBigEndian ? ByteBuilder.big($1, bytesPerUnit) : ByteBuilder.little($1, bytesPerUnit)
            }
        }
        let coders = ImageCoders([coder])
        let declaration = "<?xml version='1.0' encoding='UTF-\(bytesPerUnit * 8)'?>"
        for start in ["", "\u{FEFF}", "<?xml version='1.0'?>\n", declaration, "\u{FEFF}" + declaration] {
            let document = encoded(start + markup)
            for data in [document, gzip(document), document + Data([0x0A])] {
                let image = try coders.decode(data, options: DecodeOptions())
                #expect(image.size == PixelSize(width: 20, height: 10) && image.pixels[2, 2] == red)
            }
            // Of an element that isn't closed, the end is missing.
            let end = document.count - encoded("</svg>").count
            for count in (end - 9)...end { expectCode(.truncatedImage) { try coder.decode(document.prefix(count)) } }
        }
        // No character of Unicode.
        let damaged = encoded("\u{FEFF}<svg ") + Data(repeating: 0xD8, count: 8) + encoded(markup)
        #expect(throws: ImageError.self) { try coder.decode(damaged) }
        // Limits see what is drawn.
        let many = encoded("\u{FEFF}" + String(decoding: svg("width='20' height='10'", Self.repeated), as: UTF8.self))
        expectCode(.limitExceeded) { try coder.info(many) }
    }

    /// Elements that draw each other, more than 10 million in all.
    private static let repeated =
        "<g id='g0'><rect width='1' height='1'/></g>"
        + (1...7).map { level in
            "<g id='g\(level)'>" + String(repeating: "<use xlink:href='#g\(level - 1)'/>", count: 10) + "</g>"
        }.joined()

    @Test("Compressed documents keep the limit of bytes, and damage in them is an error")
    func compressionLimits() throws {
        let plain = svg("width='20' height='10'", halves)
        let large = gzip(Data(count: SVGCoder.maximumBytes + 1), hasChecksum: false)
        expectCode(.limitExceeded) { try coder.decode(large) }
        expectCode(.corruptImage) { try coder.decode(gzip(plain).dropLast(12)) }
        expectCode(.corruptImage) { try coder.decode(gzip(gzip(plain))) }
        for other in [Data("no drawing".utf8), Data("<html></html>".utf8), Data([0xFF, 0xD8, 0xFF, 0xE0])] {
            expectCode(.unknownFormat) { try coder.decode(gzip(other)) }
        }
        var lying = gzip(plain)
        for place in 1...4 { lying[lying.count - place] = 0xFF }
        expectCode(.corruptImage) { try coder.decode(lying) }
    }

    @Test(
        "A box is filled in the ratio of sides that aren't whole, and up to its edges", .capability("COD-60"),
        arguments: [
            ("viewBox='0 0 1 0.3'", 200, 60), ("viewBox='0 0 2.2 1.2'", 200, 109),
            ("width='10.5' height='5.2'", 200, 99), ("width='24.2px' height='6.1px'", 200, 50),
        ])
    func fractions(attributes: String, width: Int, height: Int) throws {
        let drawing = svg(attributes, "<rect x='-9' y='-9' width='99' height='99' fill='#f00'/>")
        let image = try coder.decode(drawing) { $0.thumbnailSize = PixelSize(width: 200, height: 200) }
        #expect(image.size == PixelSize(width: width, height: height))
        for (x, y) in [(0, 0), (width - 1, 0), (0, height - 1), (width - 1, height - 1), (width / 2, height / 2)] {
            #expect(image.pixels[x, y] == red, "\(x), \(y)")
        }
    }

    @Test("A box is filled, upwards too, and drawn sharply at that size")
    func box() throws {
        let data = svg("width='20' height='10'", halves)
        let large = try coder.decode(data) { $0.thumbnailSize = PixelSize(width: 200, height: 200) }
        #expect(large.size == PixelSize(width: 200, height: 100))
        #expect(large.pixels[99, 50] == red && large.pixels[100, 10] == blue && large.pixels[100, 50] == clear)
        let stretched = try coder.decode(data) {
            $0.thumbnailSize = PixelSize(width: 40, height: 40)
            $0.preservesAspectRatio = false
        }
        #expect(stretched.size == PixelSize(width: 40, height: 40) && stretched.pixels[30, 15] == blue)
    }

    @Test("The size of a drawing is unlimited where it is drawn small", .capability("COD-60"))
    func huge() throws {
        let data = svg("width='3000000' height='1500000'", halves)
        let image = try coder.decode(data) { $0.thumbnailSize = PixelSize(width: 20, height: 20) }
        #expect(image.size == PixelSize(width: 20, height: 10) && image.pixels[2, 2] == red)
        expectCode(.limitExceeded) { try coder.decode(data) }
    }

    @Test("Files and external entities are not read, data URLs are")
    func externalReferences() throws {
        let folder = try TemporaryDirectory()
        let picture = folder.url.appending(path: "secret.svg")
        let secret = svg("width='4' height='4'", "<rect width='4' height='4' fill='#0f0'/>")
        try secret.write(to: picture)
        for reference in [picture.absoluteString, picture.path, "http://127.0.0.1:9/x.svg"] {
            let image = try coder.decode(
                svg("width='4' height='4'", "<image width='4' height='4' xlink:href='\(reference)'/>"))
            #expect(image.pixels[2, 2] == clear)
        }
        let inline = "data:image/svg+xml;base64," + secret.base64EncodedString()
        let image = try coder.decode(
            svg("width='4' height='4'", "<image width='4' height='4' xlink:href='\(inline)'/>"))
        #expect(image.pixels[2, 2] == green)
        let entity = "<!DOCTYPE svg [<!ENTITY x SYSTEM '\(picture.absoluteString)'>]>"
        let drawn = try? coder.decode(svg("width='4' height='4'", "&x;", before: entity))
        #expect(drawn.map { $0.pixels[2, 2] == clear } ?? true)
    }

    @Test("Nested entities and huge sizes end in an error soon")
    func bombs() throws {
        var bomb = "<!DOCTYPE svg [<!ENTITY a0 '<g/>'>"
        for level in 1...12 {
            bomb += "<!ENTITY a\(level) '" + String(repeating: "&a\(level - 1);", count: 10) + "'>"
        }
        #expect(throws: ImageError.self) { try coder.decode(svg("width='4' height='4'", "&a12;", before: bomb + "]>")) }
        expectCode(.limitExceeded) { try coder.decode(svg("width='100000' height='100000'", halves)) }
        expectCode(.limitExceeded) { try coder.decode(svg("width='40000' height='10'", halves)) }
        expectCode(.corruptImage) { try coder.decode(svg("width='0' height='10'", halves)) }
        expectCode(.limitExceeded) { try coder.decode(Data(count: SVGCoder.maximumBytes + 1)) }
    }

    @Test("Elements that draw each other over and over are refused before they are drawn")
    func repetition() throws {
        func levels(_ count: Int, _ times: Int, _ reference: (Int) -> String) -> String {
            (1...count).map { "<g id='l\($0)'>" + String(repeating: reference($0 - 1), count: times) + "</g>" }.joined()
        }
        let uses = levels(12, 10) { "<use xlink:href='#l\($0)'/>" }
        expectCode(.limitExceeded) {
            try coder.decode(svg("width='4' height='4'", "<defs><g id='l0'/>\(uses)</defs><use href='#l12'/>"))
        }
        let painted = levels(12, 10) { "<rect width='1' height='1' style='fill: url( \"#l\($0)\")'/>" }
            .replacingOccurrences(of: "<g id", with: "<pattern width='1' height='1' id")
            .replacingOccurrences(of: "</g>", with: "</pattern>")
        expectCode(.limitExceeded) {
            try coder.decode(
                svg("width='4' height='4'", "<defs>\(painted)</defs><rect width='4' height='4' fill='url(#l12)'/>"))
        }
        // A pattern goes on with its other reference where one can't be followed.
        let hatched =
            "<g id='p0'><rect width='1' height='1'/></g>"
            + (1...6).map { level in
                let row = String(repeating: "<rect width='1' height='1' fill='url(#h\(level - 1))'/>", count: 10)
                return "<pattern id='p\(level)' width='1' height='1'>\(row)</pattern>"
                    + "<pattern id='h\(level)' xlink:href='#p\(level)' href='foo'/>"
            }.joined()
        expectCode(.limitExceeded) {
            try coder.decode(
                svg("width='4' height='4'", "<defs>\(hatched)</defs><rect width='4' height='4' fill='url(#h6)'/>"))
        }
        var entities = "<!DOCTYPE svg [<!ENTITY u '\(String(repeating: "<use xlink:href=\"#t\"/>", count: 400))'>"
        entities += "<!ENTITY v '\(String(repeating: "&u;", count: 20))'>]>"
        let row = "<g id='t'>" + String(repeating: "<path d=''/>", count: 100) + "</g>&v;&v;"
        expectCode(.limitExceeded) { try coder.decode(svg("width='4' height='4'", row, before: entities)) }
        // A symbol that is shown often is no such document, nor one that shows itself.
        let often = "<g id='l0'><rect width='1' height='1'/></g>" + levels(3, 10) { "<use href='#l\($0)'/>" }
        #expect(try coder.decode(svg("width='4' height='4'", often)).size.width == 4)
        _ = try? coder.decode(
            svg("width='4' height='4'", "<g id='a'><use href='#b'/></g><g id='b'><use href='#a'/></g>"))
        expectCode(.limitExceeded) {
            let chain = (1...400).map { "<g id='l\($0)'><use href='#l\($0 - 1)'/></g>" }.joined()
            return try coder.decode(svg("width='4' height='4'", "<defs><g id='l0'/>\(chain)</defs><use href='#l400'/>"))
        }
    }

    @Test("Images inside keep the limits, one by one and together")
    func imagesInside() throws {
        func document(_ type: String, _ data: Data, times: Int = 1) -> Data {
            let image = "<image width='4' height='4' href='data:\(type);base64,\(data.base64EncodedString())'/>"
            return svg("width='4' height='4'", String(repeating: image, count: times))
        }
        let drawing = try coder.decode(svg("width='64' height='64'", "<rect width='64' height='64' fill='#0f0'/>"))
        let png = try PNGCoder().encode(drawing, as: .png, options: EncodeOptions())
        var small = ProcessingContext()
        small.limits.maximumPixels = 1_000
        expectCode(.limitExceeded) { try coder.decode(document("image/png", png), options: .init(), context: small) }
        var few = ProcessingContext()
        few.limits.maximumBytes = 100_000
        #expect(try coder.decode(document("image/png", png), options: .init(), context: few).pixels[2, 2] == green)
        expectCode(.limitExceeded) {
            try coder.decode(document("image/png", png, times: 4), options: .init(), context: few)
        }
        // Sizes that no sum holds, where a program has no limits.
        var unlimited = ProcessingContext()
        unlimited.limits.maximumPixels = .max
        unlimited.limits.maximumBytes = .unlimited
        let huge = HandmadePNG(width: 1_300_000_000, height: 1_300_000_000, bitDepth: 8, colorType: 0, rows: [[0]])
        #expect(throws: ImageError.self) {
            try coder.decode(document("image/png", huge.data, times: 3), options: .init(), context: unlimited)
        }
        // Also in a document inside, and as many of those as there may be.
        var nested = document("image/png", png)
        #expect(try coder.decode(document("image/svg+xml", nested)).size.width == 4)
        expectCode(.limitExceeded) {
            try coder.decode(document("image/svg+xml", nested), options: .init(), context: small)
        }
        for _ in 0..<4 { nested = document("image/svg+xml", nested) }
        expectCode(.limitExceeded) { try coder.decode(nested) }
        expectCode(.corruptImage) { try coder.decode(document("image/x-tga", Data(repeating: 2, count: 64))) }
        // XInclude takes the elements of another document into this one.
        let included = "<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='data:image/svg+xml;base64,"
        expectCode(.limitExceeded) {
            let inner = document("image/png", png).base64EncodedString()
            return try coder.decode(
                svg("width='4' height='4'", included + inner + "'/>"), options: .init(), context: small)
        }
        let link = "<a href='data:text/plain,x'><rect width='4' height='4' fill='#0f0'/></a>"
        #expect(try coder.decode(svg("width='4' height='4'", link)).pixels[2, 2] == green)
    }

    @Test("Data that draws nothing doesn't matter, and damaged data that draws is an error", .capability("COD-60"))
    func unusedData() throws {
        let drawing = svg("width='4' height='4'", "<rect width='4' height='4' fill='#0f0'/>").base64EncodedString()
        let (good, bad) = ("data:image/svg+xml;base64,\(drawing)", "data:image/png;base64,-_-_")
        let image = "<image width='4' height='4' href='\(good)'/>"
        for element in [
            "<script href='\(bad)'/>", "<metadata><x href='\(bad)'/></metadata>",
            "<font-face-uri xlink:href='\(bad)'/>",
        ] {
            #expect(try coder.decode(svg("width='4' height='4'", element + image)).pixels[2, 2] == green)
        }
        let both = "<image width='4' height='4' href='\(good)' xlink:href='\(bad)'/>"
        #expect(try coder.decode(svg("width='4' height='4'", both)).pixels[2, 2] == green)
        for (link, other) in [("href", "xlink:href"), ("xlink:href", "y:href")] {
            let element = "<image xmlns:y='y' width='4' height='4' \(other)='\(good)' \(link)='\(bad)'/>"
            expectCode(.corruptImage) { try coder.decode(svg("width='4' height='4'", element)) }
        }
    }

    @Test("Limits and cancellation are kept, and a document that is cut says so")
    func refusals() throws {
        let data = svg("width='64' height='64'", String(repeating: halves, count: 10))
        TraitCoderChecks.expectLimits(coder, data)
        TraitCoderChecks.expectTruncation(coder, data)
    }

    @Test("Damage ends in an image or an error")
    func damage() throws {
        let data = svg("width='20' height='10' viewBox='0 0 20 10'", halves)
        try coder.survives(damageTo: data, cases: 400, seed: 51)
    }
}
#endif
