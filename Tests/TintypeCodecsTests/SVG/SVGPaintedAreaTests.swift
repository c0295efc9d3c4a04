#if SVG
import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("The area that an SVG paints", .timeLimited)
struct SVGPaintedAreaTests {
    /// The operations for each pixel of a canvas of 100 × 100 units.
    private func work(_ body: String, root: String = "") throws -> Double {
        let text = "<svg xmlns='http://www.w3.org/2000/svg' width='100' height='100' \(root)>\(body)</svg>"
        var contents = try Data(text.utf8).withBytes { bytes throws(ImageError) in try SVGContents(bytes) }
        var expansion = SVGExpansion(contents)
        _ = try expansion.total()
        contents.measureAreas(natural: PixelSize(width: 100, height: 100), depth: expansion.deepest)
        expansion = SVGExpansion(contents)
        return try expansion.total().cost.painting
    }

    private func isWhole(_ body: String, root: String = "") throws -> Bool { try work(body, root: root) >= 0.5 }

    @Test("Shapes count by their boxes, and at most as large as the canvas", .capability("COD-60"))
    func shapes() throws {
        let whole = try work("<rect width='100' height='100' stroke-width='0'/>")
        #expect(whole == 0.5)
        #expect(try work("<rect width='10' height='10' stroke-width='0'/>") == whole / 100)
        #expect(try work("<rect width='1e9' height='1e9' stroke-width='0'/>") == whole)
        #expect(try work("<rect width='50%' height='1in' stroke-width='0'/>") == whole * 0.5 * 0.96)
        #expect(try work("<rect x='90' y='90' rx='40' width='1' height='1' stroke-width='0'/>") == whole / 10_000)
        #expect(try isWhole("<rect width='3em' height='100'/>"))
        #expect(try work("<circle r='5' stroke-width='0'/>") == whole / 100)
        #expect(try work("<ellipse rx='5' ry='50' stroke-width='0'/>") == whole / 10)
        #expect(try work("<path d='M0 0H10V20z' stroke-width='0'/>") == whole * 0.02)
        #expect(try work("<polygon points='0,0 10,10 0,20' stroke-width='0'/>") == whole * 0.02)
        #expect(try isWhole("<path d='M0 0A1 1 0 0 1 50 0'/>"))
        #expect(try isWhole("<path d='M0 0C0 900 100 900 100 0'/>"))
        #expect(try work("<g/><desc>text</desc><defs/>") == 0)
    }

    @Test("Lines count by their length and width", .capability("COD-60"))
    func lines() throws {
        let thin = try work("<path d='M0 50H100'/>")
        #expect(thin == 0.005)
        #expect(try work("<path d='M0 50H100' stroke-width='10'/>") == 10 * thin)
        #expect(try work("<g style='stroke-width:10px'><path d='M0 50H100'/></g>") == 10 * thin)
        #expect(try work("<style>path{stroke-width:10}</style><path d='M0 50H100'/>") == 10 * thin)
        #expect(try isWhole("<line x2='100' stroke-width='200'/>") && isWhole("<line x2='100' stroke-width='50%'/>"))
        #expect(try isWhole("<path d='M0 0h1' vector-effect='non-scaling-stroke'/>"))
        // What is used takes its lines from the element that uses it.
        let used = "<defs><path id='p' d='M0 50H100'/></defs>"
        #expect(try work(used + "<g stroke-width='200'><use href='#p'/></g>") == 1)
    }

    @Test("Gradients, patterns, and images count for more", .capability("COD-60"))
    func paints() throws {
        let shape = "<rect width='100' height='100' stroke-width='0'"
        let gradient = "<radialGradient id='g'/>"
        #expect(try work(gradient + shape + " fill='url(#g)'/>") == 3)
        #expect(try work(gradient + "<g fill='url(#g)'>\(shape)/></g>") == 3)
        #expect(try work(gradient + "<style>.a{fill:url(#g)}</style>" + shape + " class='a'/>") == 3)
        #expect(try work("<image width='100' height='100' href='x'/>") == 5)
        #expect(try work("<image href='x'/>") == 5 && work("<image width='10' height='10' href='x'/>") == 0.05)
        let inner = "<rect width='1' height='1'/>"
        let data = Data("<svg xmlns='http://www.w3.org/2000/svg'>\(inner)</svg>".utf8).base64EncodedString()
        let image = "<image width='1' height='1' href='data:image/svg+xml;base64,\(data)'/>"
        #expect(throws: Never.self) { try SVGCoder().decode(HostileDrawings.document(image)) }
    }

    @Test("Text counts by its characters and the size of its font", .capability("COD-60"))
    func text() throws {
        #expect(try work("<text font-size='10'>a b\u{E9}</text>") == 3.0 / 100)
        #expect(try work("<text style='font-size:10px'>abc</text>") == 3.0 / 100)
        #expect(try work("<text style='font: bold 10px/3 Serif'>abc</text>") == 3.0 / 100)
        #expect(try work("<style>text{font-size:5px}</style><text style='font-size:200%'>abc</text>") > 0)
        #expect(try work("<g font-size='5'><text font-size='2em'><tspan>abc</tspan></text></g>") == 3.0 / 100)
        #expect(try work("<text font-size='9in'>abc</text>") == 3)
        let nested = String(repeating: "<g font-size='200%'>", count: 60) + "<text>abc</text>"
        #expect(try work(nested + String(repeating: "</g>", count: 60)) == 3)
    }

    @Test("Transformations and coordinate systems enlarge", .capability("COD-60"))
    func enlarging() throws {
        let dot = "<rect width='1' height='1' stroke-width='0'/>"
        let small = try work(dot)
        #expect(try work("<g transform='scale(10)'>\(dot)</g>") == 100 * small)
        #expect(try work("<style>g{transform:scale(10)}</style><g><g>\(dot)</g></g>") >= 0.5)
        #expect(try work(dot, root: "viewBox='0 0 10 10'") == 100 * small)
        #expect(try work(dot, root: "viewBox='0 0 1 100' preserveAspectRatio='xMidYMid slice'") == 0.5)
        #expect(try isWhole("<svg viewBox='0 0 1 1'>\(dot)</svg>"))
        #expect(try isWhole("<symbol id='s' viewBox='0 0 1 1'>\(dot)</symbol><use href='#s'/>"))
        #expect(
            try isWhole(
                "<symbol id='s' viewBox='0 0 100 100'>\(dot)</symbol><use href='#s' width='10000' height='10000'/>"))
        #expect(try isWhole("<clipPath id='c' clipPathUnits='objectBoundingBox'>\(dot)</clipPath>"))
        #expect(try work("<g id='a'>\(dot)</g><use href='#a' transform='scale(10)'/>") >= 100 * small)
        let marker = "<marker id='m' viewBox='0 0 10 10' markerWidth='3'>\(dot)</marker>"
        #expect(try work(marker) < small)
        #expect(try work(marker + "<path d='M0 0h9h9' marker-mid='url(#m)' stroke-width='1000'/>") >= 1)
        #expect(try isWhole("<style>rect{width:100px}</style>\(dot)") && isWhole("<rect style='height:100px'/>"))
    }

    @Test(
        "Shapes that cover each other thousands of times are refused, however small the document",
        .capability("COD-60"),
        arguments: [
            "<rect width='1000' height='1000'/>", "<circle r='1000' fill='url(#g)'/>",
            "<path d='M0 500H1000' stroke='red' stroke-width='1000'/>", "<text y='900' font-size='1000'>MM</text>",
            "<use href='#shape'/>", "<svg viewBox='0 0 1 1'><rect width='1' height='1'/></svg>",
            "<g transform='scale(1000)'><rect width='1' height='1'/></g>",
        ])
    func covering(_ shape: String) throws {
        let more = "<radialGradient id='g'/><rect id='shape' width='1000' height='1000'/>"
        let data = HostileDrawings.document(more + String(repeating: shape, count: 20_000), side: 1_000)
        do {
            _ = try SVGCoder().decode(data)
            Issue.record("It was drawn.")
        } catch {
            #expect(error.code == .limitExceeded, "\(error)")
        }
        // A thumbnail costs less.
        #expect(try SVGCoder().decode(data) { $0.thumbnailSize = PixelSize(width: 20, height: 20) }.size.width == 20)
    }

    @Test("Maps and charts of many small shapes are drawn", .capability("COD-60"))
    func usual() throws {
        var shapes = "<g stroke='black' stroke-width='2' font-size='12'>"
        for index in 0..<20_000 {
            let (x, y) = (index % 200 * 10, index / 200 * 20)
            shapes += "<path d='M\(x) \(y)l10 3 4 12-10 2z' fill='red'/>"
            if index % 10 == 0 { shapes += "<text x='\(x)' y='\(y)'>Town</text><use href='#icon' x='\(x)' y='\(y)'/>" }
        }
        let icon = "<symbol id='icon' viewBox='0 0 24 24' width='24' height='24'><path d='M2 2h20v20H2z'/></symbol>"
        let data = HostileDrawings.document(icon + shapes + "</g>", side: 2_000)
        #expect(try SVGCoder().decode(data).size.width == 2_000)
    }
}
#endif
