#if SVG
import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("Looking ahead in SVG", .timeLimited)
struct SVGLookAheadTests {
    private func contents(_ body: String) throws -> SVGContents {
        let data = HostileDrawings.document(body)
        return try data.withBytes { bytes throws(ImageError) in try SVGContents(bytes) }
    }

    private func cost(_ body: String) throws -> SVGCost {
        var expansion = SVGExpansion(try contents(body))
        return try expansion.total().cost
    }

    @Test("CSS is read as it is drawn: escapes, comments, quotes, and what has no end", .capability("COD-60"))
    func tokens() {
        func targets(_ text: String) -> [String] {
            SVGStyle(CSSTokenizer.tokens(Array(text.utf8)[...])[...]).references.map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        #expect(targets("fill:url(#a)") == ["#a"])
        #expect(targets("fill:u\\72l(#\\61 b)") == ["#ab"])
        #expect(targets("fill:URL( \"#a)b\" );stroke:url('#c')") == ["#a)b", "#c"])
        #expect(targets("fill:/*;*/url(#a/*) ;x:url(#b*/)") == ["#a/*", "#b*/"])
        #expect(targets("fill:url(#a") == ["#a"])
        #expect(targets("fill:url(#a\\)b)") == ["#a)b"])
        #expect(targets("fill:'url(#a)'") == [])
    }

    @Test("rules apply to the elements that they may match, and count each layer once", .capability("COD-60"))
    func rules() throws {
        let shapes = "<rect class='b a'/><rect id='c'/><g><rect/></g><circle/>"
        func references(_ style: String) throws -> Int {
            try contents("<style>\(style)</style>\(shapes)").references.count
        }
        #expect(try references(".a{fill:url(#x)}") == 1)
        #expect(try references("g .a, #c{fill:url(#x)}") == 2)
        #expect(try references("RECT{fill:url(#x)}") == 3)
        #expect(try references("@media print{circle{fill:url(#x);stroke:url(#y)}}") == 2)
        #expect(try references("<![CDATA[g>circle{fill:url(#x)}]]>") == 1)
        // Whatever may match anything counts for all: the root, the sheet, and five shapes.
        #expect(try references(":not(g){fill:url(#x)}") == 7)
        #expect(
            try cost("<style>rect{opacity:.5;filter:url(#x)}</style><rect opacity='.2'/><rect style='mask:none'/>")
                .layers == 2)
        #expect(
            try cost("<rect opacity='1'/><rect style='opacity:1;fill-opacity:.5'/><rect filter='none'/>").layers == 0)
    }

    @Test("paths have no more length and vertices than are counted", .capability("COD-60"))
    func paths() {
        func measure(_ data: String) -> SVGPathMeasure { SVGPathMeasure(path: Array(data.utf8)[...]) }
        #expect(measure("M0 0H10V10H0z").length == 40 && measure("M0 0H10V10H0z").vertices == 5)
        #expect(measure("m1,1 2,0 2,0-.5.5").vertices == 4)
        #expect(measure("M0 0C0 10 10 10 10 0s10-10 10 0").vertices == 3)
        #expect(measure("M0 0h1e3").length == 1_000)
        #expect(measure("M0 0A5 5 0 015 5").vertices == 2 && measure("M0 0A5 5 0 015 5").length >= 10)
        #expect(measure("M0 0 l nonsense 9").vertices >= 1)
        // A control point that is mirrored again and again goes ever farther.
        #expect(measure("M0 0Q0 100 1 0T2 0T3 0T4 0").length > 600)
    }

    @Test("markers count for each vertex, also those that a group hands down", .capability("COD-60"))
    func markers() throws {
        let marker = "<marker id='m'><g/><g/></marker>"
        let line = "<path d='M0 0L1 1L2 2L3 3'/>"
        let plain = try cost(marker + "<g>\(line)</g>").elements
        let marked = try cost(marker + "<g marker-mid='url(#m)'>\(line)</g>").elements
        let styled = try cost("<style>g{marker:url(#m)}</style>" + marker + "<g>\(line)</g>").elements
        #expect(marked >= plain + 4 * 3 && styled >= plain + 4 * 3)
    }

    @Test("what is hidden in data URLs beside images is refused", .capability("COD-60"))
    func hidden() {
        let css = "data:text/css,g%7Bopacity:.5%7D"
        expectCode(.limitExceeded) { try contents("<style>@import url(\"\(css)\");</style>") }
        expectCode(.limitExceeded) { try contents("<style>@im\\70ort '\(css)';</style>") }
        expectCode(.limitExceeded) {
            try contents("<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='da&#9;ta:image/svg+xml,x'/>")
        }
        let data = HostileDrawings.document("<g/>", before: "<?xml-stylesheet type='text/css' href='\(css)'?>")
        expectCode(.limitExceeded) { try data.withBytes { bytes throws(ImageError) in try SVGContents(bytes) } }
        #expect(throws: Never.self) { try contents("<style>@import url(https://example.org/font.css);</style>") }
    }

    @Test("the work of layers and filters is that of the size at which a drawing is drawn", .capability("COD-60"))
    func size() throws {
        let data = HostileDrawings.layers(200, nested: false, side: 4_000)
        expectCode(.limitExceeded) { try SVGCoder().decode(data) }
        #expect(try SVGCoder().decode(data) { $0.thumbnailSize = PixelSize(width: 40, height: 40) }.size.width == 40)
        var context = DecodeContext()
        context.limits.maximumDrawingWork = 100_000
        expectCode(.limitExceeded) {
            try SVGCoder().decode(
                data, options: DecodeOptions(thumbnailSize: PixelSize(width: 40, height: 40)), context: context)
        }
    }

    @Test(
        "references hide neither behind another sheet, another line break, nor another spelling", .capability("COD-60"))
    func hidingReferences() throws {
        func layers(_ body: String) throws -> Double { try cost(body).layers }
        // A sheet ends what it leaves open, and so does a line.
        #expect(try layers("<style>/*</style><style>rect{opacity:.5}</style><rect/>") == 1)
        #expect(try layers("<style>a{</style><style>rect{opacity:.5}</style><rect/>") == 1)
        #expect(try layers("<style>a{b:\"&#13;} rect{opacity:.5} c{d:\"}</style><rect/>") == 1)
        // A combining character is part of the name behind the space, not of the space.
        #expect(try layers("<style>.\u{301}b{opacity:.5}</style><rect class='a \u{301}b'/>") == 1)
        // Ids are compared by bytes, and those of other namespaces name nothing.
        let group = "<g id='e\u{301}'><rect/><rect/><rect/></g>"
        let use = "<use href='#e\u{301}'/>"
        let plain = try cost(group + use).elements
        #expect(try cost("<g id='\u{E9}'/>" + group + use).elements == plain + 1)
        #expect(try cost("<g xmlns:x='y' x:id='e\u{301}'/>" + group + use).elements == plain + 1)
    }

    @Test("what refers to itself costs what is drawn before the circle closes", .capability("COD-60"))
    func circles() throws {
        let rects = String(repeating: "<rect/>", count: 100)
        let circle = "<use href='#a'/><g id='a'>\(rects)<use href='#b'/></g><g id='b'><use href='#a'/></g>"
        let once = try cost(circle + "<use href='#b'/>").elements
        let twice = try cost(circle + "<use href='#b'/><use href='#b'/>").elements
        #expect(twice - once >= 100)
    }

    @Test("numbers without end, and rules in rules, are refused or harmless", .capability("COD-60"))
    func extremes() throws {
        let digits = String(repeating: "9", count: 400)
        #expect(try cost("<path d='M\(digits) 0L-\(digits) 0L\(digits)e400 1'/>").length.isFinite)
        #expect(
            try SVGCoder().decode(HostileDrawings.document("<path d='M\(digits) 0 L\(digits) 0'/>")).size.width == 100)
        let nested = String(repeating: "@media a{", count: 100_000)
        expectCode(.limitExceeded) { try contents("<style>\(nested)</style>") }
        expectCode(.limitExceeded) { try contents("<style>\(String(repeating: "{", count: 5 << 20))</style>") }
    }

    @Test(
        "lines and text that are drawn over and over are refused, and drawings in drawings count", .capability("COD-60")
    )
    func repetition() throws {
        let uses = String(repeating: "<use href='#p'/>", count: 100)
        let path = "<path id='p' d='M0 0\(String(repeating: "L1 1L0 0", count: 10_000))'/>"
        expectCode(.limitExceeded) { try SVGCoder().decode(HostileDrawings.document(path + uses)) }
        let text = "<text id='p'>\(String(repeating: "a", count: 20_000))</text>"
        expectCode(.limitExceeded) { try SVGCoder().decode(HostileDrawings.document(text + uses)) }
        let turbulence = "<filter id='f'><feTurbulence numOctaves='50'/></filter><rect filter='url(#f)'/>"
        let inner = HostileDrawings.document(turbulence, side: 1_000).base64EncodedString()
        let image = "<image id='p' href='data:image/svg+xml;base64,\(inner)'/>"
        expectCode(.limitExceeded) { try SVGCoder().decode(HostileDrawings.document(image + uses, side: 1_000)) }
        #expect(throws: Never.self) {
            try SVGCoder().decode(
                HostileDrawings.document(
                    "<image href='data:image/svg+xml;base64,\(HostileDrawings.document("<rect/>").base64EncodedString())'/>"
                ))
        }
    }

    @Test("transformations count by what they enlarge, along elements and references", .capability("COD-60"))
    func scales() throws {
        func scale(_ text: String) -> Double { SVGTransform.scale(Array(text.utf8)[...]) }
        #expect(scale("translate(500, 200) rotate(45 3 4)") == 1)
        #expect(scale("scale(2) scale(3,-4)") == 8)
        #expect(abs(scale("matrix(0 3 -3 0 70 80)") - 3) < 1e-9)
        #expect(scale("skewX(45)") >= 1.6 && scale("unknown(7)") == 7 && scale("") == 1)
        let nested = "<g transform='scale(3)'><g transform='translate(900)'><rect transform='scale(5)'/></g></g>"
        #expect(try contents(nested).largestScale == 15)
        #expect(try contents("<rect style='transform:translate(90px) scale(4)'/>").largestScale == 4)
        #expect(try contents("<style>rect{transform:scale(6)}</style><rect/>").sheetScale == 6)
    }

    @Test(
        "A pattern whose tile would take gigabytes is refused, however small the document and the canvas",
        .capability("COD-60"),
        arguments: [
            "<pattern id='p' width='30000' height='30000' patternUnits='userSpaceOnUse'>",
            "<pattern id='p' width='2' height='2' patternUnits='userSpaceOnUse' patternTransform='scale(15000)'>",
            "<pattern id='p' width='3000' height='3000'>", "<pattern id='p' width='300000%' height='300000%'>",
            "<pattern id='q' width='30000' height='30000' patternUnits='userSpaceOnUse'/><pattern id='p' href='#q'>",
            "<pattern id='p' width='1' height='1'><rect width='30000' height='30000'/>",
        ])
    func tiles(_ pattern: String) throws {
        let paint = "<rect width='30000' height='30000'/></pattern><rect width='30000' height='30000' fill='url(#p)'/>"
        let data = HostileDrawings.document(pattern + paint)
        #expect(throws: ImageError.self) { try SVGCoder().decode(data) }
        do { _ = try SVGCoder().decode(data) } catch { #expect(error.code == .limitExceeded, "\(error)") }
    }

    @Test("Usual patterns are drawn", .capability("COD-60"))
    func usualTiles() throws {
        let patterns = [
            "<pattern id='p' width='.1' height='10%'><rect width='3' height='3'/></pattern>",
            "<pattern id='p' width='8' height='8' patternUnits='userSpaceOnUse' patternTransform='scale(2) rotate(45)'><rect width='4' height='4'/></pattern>",
            "<pattern id='q' width='8' height='8' patternUnits='userSpaceOnUse'><rect width='4' height='4'/></pattern><pattern id='p' href='#q'/>",
            // Nothing is painted with it.
            "<pattern id='unused' width='1020' height='1012'><rect width='30000' height='30000'/></pattern>",
        ]
        for pattern in patterns {
            let group =
                "<g transform='translate(700 300) scale(1.25)'><rect width='90' height='90' fill='url(#p)'/></g>"
            #expect(throws: Never.self) { try SVGCoder().decode(HostileDrawings.document(pattern + group)) }
        }
    }
}
#endif
