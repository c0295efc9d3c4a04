#if SVG
import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("Looking ahead in SVG", .timeLimited)
struct SVGLookAheadTests {
    /// The elements that a document draws.
    private func drawn(_ body: String) throws -> Int {
        let data = HostileDrawings.document(body)
        let contents = try data.withBytes { bytes throws(ImageError) in try SVGContents(bytes) }
        return try SVGExpansion.count(contents, limit: .max)
    }

    @Test("What refers to an element draws it again", .capability("COD-60"))
    func references() throws {
        let group = "<g id='a'><rect/><rect/></g>"
        #expect(try drawn(group) == 4)
        for reference in [
            "<use href='#a'/>", "<use xlink:href=' #a'/>", "<rect fill='url(#a)'/>",
            "<rect style='FILL : URL( &quot;#a&quot; )'/>", "<rect mask=\"url('#a')\"/>",
        ] {
            #expect(try drawn(group + reference) == 8, "\(reference)")
        }
        for reference in ["<a href='#a'/>", "<use href='#b'/>", "<use href='a'/>", "<rect fill='rgb(1,2,3)'/>"] {
            #expect(try drawn(group + reference) == 5, "\(reference)")
        }
    }

    @Test("Ids are compared by bytes, and those of other namespaces name nothing", .capability("COD-60"))
    func ids() throws {
        let group = "<g id='e\u{301}'><rect/><rect/><rect/></g>"
        let use = "<use href='#e\u{301}'/>"
        let plain = try drawn(group + use)
        #expect(try drawn("<g id='\u{E9}'/>" + group + use) == plain + 1)
        #expect(try drawn("<g xmlns:x='y' x:id='e\u{301}'/>" + group + use) == plain + 1)
    }

    @Test("What refers to itself counts what is drawn before the circle closes", .capability("COD-60"))
    func circles() throws {
        let rects = String(repeating: "<rect/>", count: 100)
        let circle = "<use href='#a'/><g id='a'>\(rects)<use href='#b'/></g><g id='b'><use href='#a'/></g>"
        let once = try drawn(circle + "<use href='#b'/>")
        let twice = try drawn(circle + "<use href='#b'/><use href='#b'/>")
        #expect(twice - once >= 100)
    }

    @Test("Drawings in drawings count", .capability("COD-60"))
    func drawings() throws {
        let groups =
            "<g id='l0'/>"
            + (1...6).map { level in
                "<g id='l\(level)'>" + String(repeating: "<use href='#l\(level - 1)'/>", count: 10) + "</g>"
            }.joined()
        let inner = HostileDrawings.document(groups).base64EncodedString()
        let image = "<image href='data:image/svg+xml;base64,\(inner)'/>"
        expectCode(.limitExceeded) { try SVGCoder().decode(HostileDrawings.document(image)) }
    }
}
#endif
