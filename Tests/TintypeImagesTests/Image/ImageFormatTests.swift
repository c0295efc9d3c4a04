import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeImages

@Suite("Recognising formats", .timeLimited)
struct ImageFormatTests {
    private static func ftyp(_ major: String, _ compatible: String...) -> [UInt8] {
        let length = 16 + compatible.count * 4
        return [0, 0, 0, UInt8(length)] + Array("ftyp\(major)".utf8) + [0, 0, 0, 0]
            + compatible.flatMap { Array($0.utf8) }
    }

    private static let bmp = Array("BM".utf8) + [70, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0]
    private static let ico: [UInt8] = [0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0, 104, 4, 0, 0, 22, 0, 0, 0]

    @Test(
        "By full signatures",
        .capability(
            "FMT-02", "FMT-03", "FMT-04", "FMT-05", "FMT-06", "FMT-07", "FMT-08", "FMT-09", "FMT-10", "FMT-11", "FMT-12"
        ),
        arguments: [
            ([0xFF, 0xD8, 0xFF, 0xE0], ImageFormat.jpeg),
            ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .png),
            (Array("GIF89a".utf8), .gif), (Array("GIF87a".utf8), .gif),
            ([0x49, 0x49, 0x2A, 0], .tiff), ([0x4D, 0x4D, 0, 0x2A], .tiff), ([0x49, 0x49, 0x2B, 0], .tiff),
            (Array("RIFF\u{1}\u{1}\u{1}\u{1}WEBPVP8 ".utf8), .webp),
            (ftyp("heic", "mif1"), .heic), (ftyp("mif1", "heic"), .heic), (ftyp("hevc", "msf1"), .heic),
            (ftyp("mif1", "miaf"), .heif), (ftyp("avif", "mif1"), .avif), (ftyp("mif1", "avif"), .avif),
            (ftyp("avis", "avif"), .avif), (ftyp("crx ", "isom"), .raw),
            ([0xFF, 0x0A, 0, 0], .jxl), ([0, 0, 0, 12, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A], .jxl),
            (Array("%PDF-1.7".utf8), .pdf), (bmp, .bmp), (ico, .ico),
            (Array("<svg xmlns='http://www.w3.org/2000/svg'>".utf8), .svg),
            (Array("\u{FEFF}<?xml version='1.0'?>\n<!-- a > b -->\n<svg/>".utf8), .svg),
            (Array("<!DOCTYPE svg PUBLIC \"x\" \"y\" [ <!ENTITY a \"b\"> ]><svg:svg>".utf8), .svg),
            (Array("<!DOCTYPE\n\tsvg SYSTEM \"a>b\" [ <!-- ]> --> <?it's ]> ?> <!ENTITY a ']>'> ] ><svg>".utf8), .svg),
            (Array("<!DOCTYPE s:svg>\n<s:svg>".utf8), .svg),
            (Array("<?xml version='1.0'?><ns0:svg xmlns:ns0='http://www.w3.org/2000/svg'/>".utf8), .svg),
            ([0xFF, 0xFE] + "<svg/>".utf8.flatMap { [$0, 0] }, .svg),
            ([0xFE, 0xFF] + "<?xml version='1.0'?><svg/>".utf8.flatMap { [0, $0] }, .svg),
            ("<svg/>".utf8.flatMap { [$0, 0] }, .svg), ("<svg/>".utf8.flatMap { [0, $0] }, .svg),
            ([0xFF, 0xFE, 0, 0] + "<?xml version='1.0'?><svg/>".utf8.flatMap { [$0, 0, 0, 0] }, .svg),
            ([0, 0, 0xFE, 0xFF] + "<svg/>".utf8.flatMap { [0, 0, 0, $0] }, .svg),
            ("<svg/>".utf8.flatMap { [$0, 0, 0, 0] }, .svg), ("<svg/>".utf8.flatMap { [0, 0, 0, $0] }, .svg),
            ([0x1F, 0x8B, 8, 0, 0, 0, 0, 0], .svg),
            (Array("some lines of a mail\r\n%PDF-1.4".utf8), .pdf), ([0x25, 0xE2, 0xE3, 0xCF, 0xD3, 0x0A], .pdf),
            ([0, 0, 1, 0, 1, 0, 16, 16, 0, 255, 1, 0, 32, 0, 104, 4, 0, 0, 22, 0, 0, 0], .ico),
            // What an icon is worth is its reader's to say.
            ([0, 0, 1, 0, 1, 0], .ico), ([0, 0, 2, 0, 9, 1, 0, 0], .ico),
            (Array("II*\u{0}\u{10}\u{0}\u{0}\u{0}CR\u{2}\u{0}".utf8), .raw),
            (Array("FUJIFILMCCD-RAW 0201".utf8), .raw), (Array("IIRO\u{8}\u{0}\u{0}\u{0}".utf8), .raw),
            (Array("IIRS\u{8}\u{0}\u{0}\u{0}".utf8), .raw), (Array("IIU\u{0}\u{8}\u{0}\u{0}\u{0}".utf8), .raw),
            (Array("II\u{1A}\u{0}\u{0}\u{0}HEAPCCDR".utf8), .raw), (Array("FOVb\u{0}\u{0}\u{1}\u{2}".utf8), .raw),
            (Array("\u{0}MRM\u{0}\u{0}\u{1}\u{0}\u{0}PRD".utf8), .raw),
        ] as [([UInt8], ImageFormat)])
    func signatures(bytes: [UInt8], format: ImageFormat) {
        #expect(ImageFormat(sniffing: Data(bytes)) == format)
        #expect(ImageFormat(sniffing: Data(bytes) + Data(count: 100)) == format)
    }

    @Test(
        "A letter or two are not enough", .capability("FMT-01", "FMT-14"),
        arguments: [
            "", "B", "BM", "BMW is a maker of cars and motorcycles", "GIF", "GIF88a", "RIFF____WAVE", "%PD",
            "<!DOCTYPE html><html><svg></svg></html>", "<html>", "<?xml version='1.0'?><feed/>", "<svgx>",
            "<!-- never closed",
            "\u{0}\u{0}\u{1}\u{0}", "\u{0}\u{0}\u{1}\u{0}\u{0}\u{0}", "\u{0}\u{0}\u{2}\u{0}\u{0}\u{0}\u{0}\u{0}",
            "II", "MM", "PNG", "IIRO", "IIU\u{0}", "FUJIFILM", "\u{0}MRM", "\u{1}\u{1}\u{1}\u{1}ftypisom",
            "{\"svg\": 1}",
        ])
    func others(text: String) {
        #expect(ImageFormat(sniffing: Data(text.utf8)) == nil)
    }

    @Test("The error for data that isn't an image says what the data looks like", .capability("FMT-01"))
    func guess() {
        let video = Data("\0\0\0\u{20}ftypisom\0\0\u{2}\0isomiso2".utf8)
        for (data, words) in [
            (Data(), "empty"), (Data(" <!DOCTYPE html><p>".utf8), "HTML"), (Data("<feed/>".utf8), "markup"),
            (Data("{\"error\": 1}".utf8), "JSON"), (video, "video"), (Data([0x1A, 0x45, 0xDF, 0xA3, 1]), "video"),
            (Data([0, 255]), "00 ff"),
        ] {
            #expect(ImageFormat.guess(data).contains(words))
        }
    }

    @Test("What a long comment is in front of is left to the reader of SVG", .capability("FMT-01"))
    func longComments() {
        let comment = "<!-- " + String(repeating: "x", count: ImageFormat.sniffedBytes) + " -->"
        #expect(ImageFormat(sniffing: Data((comment + "<svg/>").utf8)) == .svg)
        #expect(ImageFormat(sniffing: Data(("<html>" + comment).utf8)) == nil)
        #expect(ImageFormat(sniffing: Data((String(repeating: "x", count: 2_000) + "%PDF-1.4").utf8)) == nil)
        // Wherever the examined bytes end.
        let root = "<!--- -->\n<!DOCTYPE a:svg SYSTEM 'b>'>\n<a:svg width='1'>"
        for count in ImageFormat.sniffedBytes - 70...ImageFormat.sniffedBytes + 1 {
            for start in [String(repeating: " ", count: count), "<!--\(String(repeating: "x", count: count - 7))-->"] {
                #expect(ImageFormat(sniffing: Data((start + root).utf8)) == .svg, "\(count)")
                let page = Data((start + "<html><svg>").utf8)
                #expect(ImageFormat(sniffing: page) == (count < ImageFormat.sniffedBytes - 5 ? nil : .svg), "\(count)")
            }
            let wide: [UInt8] = (String(repeating: " ", count: count / 2) + root).utf8.flatMap { [$0, 0] }
            #expect(ImageFormat(sniffing: [0xFF, 0xFE] + Data(wide)) == .svg, "\(count)")
        }
    }

    @Test(
        "Markup that quotes the signature of PDF isn't one", .capability("COD-48"), arguments: ["", "\n ", "\u{FEFF}"])
    func quotedDocument(start: String) {
        #expect(ImageFormat(sniffing: Data("\(start)<svg><!-- %PDF-1.4 --></svg>".utf8)) == .svg)
        #expect(ImageFormat(sniffing: Data("\(start)<html>%PDF-1.4</html>".utf8)) == nil)
    }

    @Test("A PDF without its first line is recognized by what comes next", .capability("COD-48"))
    func headlessDocuments() {
        let starts = ["\n%\u{80}\u{81}", "1 0 obj\n<<", "\r\n12 0\nobj<<", "%PDF\n", "%!PS-Adobe-3.0 PDF-1.4\n"]
        for start in starts {
            #expect(ImageFormat(sniffing: Data(start.utf8)) == .pdf, "\(start)")
        }
        let others = ["%", "% \u{80}\u{81}", "%\u{80}a", "1 0", "a 0 obj", "1 obj 0", "%!PS-Adobe-3.0 EPSF-3.0\n"]
        for start in others {
            #expect(ImageFormat(sniffing: Data(start.utf8)) == nil, "\(start)")
        }
    }

    @Test(
        "Names and media types of camera files are hints, others are not", .capability("CTX-13", "FMT-12"),
        arguments: [
            ("a.nef", nil, ImageFormat.raw), ("A.B.DNG", nil, .raw), ("x.jpg", nil, nil), ("nef", nil, nil),
            ("", nil, nil),
            ("x.tif", "image/x-nikon-nef", .raw), ("x", "image/x-adobe-dng; a=b", .raw), ("x.cr2", "text/html", .raw),
            ("x.jpg", "image/jpeg", nil), (".", nil, nil), ("x.", nil, nil), ("x.longending", nil, nil),
        ] as [(String, String?, ImageFormat?)])
    func hints(name: String, type: String?, format: ImageFormat?) {
        #expect(ImageFormat.hint(fileName: name, mimeType: type) == format)
    }

    @Test("Sniffing any bytes whatever is safe", arguments: 0..<20)
    func noise(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        for _ in 0..<200 {
            var bytes = (0..<Int.random(in: 0..<64, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random), let start = Self.starts.randomElement(using: &random) {
                bytes = start + bytes
            }
            let whole = Data(bytes)
            // A slice has indices of its own.
            #expect(ImageFormat(sniffing: (Data([0]) + whole).dropFirst()) == ImageFormat(sniffing: whole))
        }
    }

    @Test("The start of a long document is SVG only if its type doesn't say otherwise")
    func longMarkup() {
        for (type, format) in [("svg", ImageFormat.svg), ("s:svg", .svg), ("html", nil)] as [(String, ImageFormat?)] {
            let text = "<!DOCTYPE \(type)><!-- " + String(repeating: "x", count: 100_000)
            #expect(ImageFormat(sniffing: Data(text.utf8)) == format, "\(type)")
        }
    }

    private static let starts: [[UInt8]] = [
        Array("BM".utf8), [0, 0, 1, 0], [0, 0, 0, 24] + Array("ftyp".utf8), [0, 0, 0, 0] + Array("ftypmif1".utf8),
        Array("<?xml".utf8), Array("<!--".utf8), Array("<!DOCTYPE svg [".utf8),
    ]

    @Test("Types and endings lead to formats and back", .capability("FMT-13"))
    func types() {
        for format in ImageFormat.known {
            #expect(format.mimeType.flatMap(ImageFormat.init(mimeType:)) == format)
            #expect(ImageFormat(fileExtension: format.fileExtension.uppercased()) == format)
        }
        #expect(ImageFormat(mimeType: "Image/JPEG; charset=binary") == .jpeg)
        #expect(ImageFormat(mimeType: "text/html") == nil)
        #expect(ImageFormat(fileExtension: "txt") == nil)
        #expect(ImageFormat(fileExtension: "svgz") == .svg && ImageFormat.svg.fileExtension == "svg")
        #expect(ImageFormat(rawValue: "bpg").mimeType == nil)
    }

    @Test("A program's own format has media types and endings, and changes no known one", .capability("FMT-13"))
    func registered() {
        // A name that no other test uses, because the registration is for the process.
        let format = ImageFormat(rawValue: "registered-test")
        ImageFormat.register(
            format, mimeTypes: ["image/X-Registered", "image/png"], fileExtensions: ["rgt", "PNG"], storesAlpha: false)
        #expect(format.mimeType == "image/x-registered" && format.fileExtension == "rgt" && !format.storesAlpha)
        #expect(
            ImageFormat(mimeType: "image/x-registered; a=b") == format && ImageFormat(fileExtension: "RGT") == format)
        #expect(ImageFormat(mimeType: "image/png") == .png && ImageFormat(fileExtension: "png") == .png)
        ImageFormat.register(.jpeg, mimeTypes: ["image/none"], fileExtensions: [])
        #expect(ImageFormat.jpeg.mimeType == "image/jpeg")
    }
}
