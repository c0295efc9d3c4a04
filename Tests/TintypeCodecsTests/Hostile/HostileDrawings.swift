import Foundation

/// SVG documents that are small and cost much to draw, or that hide what they draw.
enum HostileDrawings {
    static func document(_ body: String, side: Int = 100, before: String = "") -> Data {
        Data(
            """
            \(before)<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" \
            width="\(side)" height="\(side)">\(body)</svg>
            """.utf8)
    }

    private static func times(_ count: Int, _ text: String) -> String { String(repeating: text, count: count) }

    private static let square = "<rect width='50' height='50' fill='#0f0'/>"

    /// Patterns that fill each other.
    /// - Parameter reference: the attribute that fills a square with a pattern.
    private static func patterns(_ levels: Int, _ count: Int, _ reference: (Int) -> String) -> String {
        let first = "<pattern id='p0' width='1' height='1'><rect width='1' height='1'/></pattern>"
        return first
            + (1...levels).map { level in
                "<pattern id='p\(level)' width='1' height='1'>"
                    + times(count, "<rect width='1' height='1' \(reference(level - 1))/>") + "</pattern>"
            }.joined() + "<rect width='100' height='100' \(reference(levels))/>"
    }

    /// A large image, as a data URL with a prefix.
    private static func image(_ prefix: String, side: Int) -> String {
        let data = HostileRasters.png(side, side).base64EncodedString()
        return "<image width='50' height='50' xlink:href='\(prefix)image/png;base64,\(data)'/>"
    }

    static func deep(_ depth: Int, side: Int) -> Data {
        document(times(depth, "<g>") + image("data:", side: side) + times(depth, "</g>"))
    }

    static func split(_ prefix: String, side: Int) -> Data { document(image(prefix, side: side)) }

    static func unclosed(_ count: Int) -> Data {
        document("<rect width='9' height='9' fill=\"\(times(count, "url(#"))\"/>" + square)
    }

    static func turbulence(octaves: Int, side: Int) -> Data {
        document(
            "<filter id='f' x='0' y='0' width='1' height='1'><feTurbulence baseFrequency='.1' numOctaves='\(octaves)'/>"
                + "</filter><rect width='\(side)' height='\(side)' filter='url(#f)'/>", side: side)
    }

    static func morphology(radius: Int, side: Int) -> Data {
        document(
            "<filter id='f'><feMorphology operator='dilate' radius='\(radius)'/></filter>"
                + "<circle cx='\(side / 2)' cy='\(side / 2)' r='\(side / 3)' filter='url(#f)'/>", side: side)
    }

    static func convolution(order: Int, side: Int) -> Data {
        let kernel = times(order * order, "1 ")
        return document(
            "<filter id='f'><feConvolveMatrix order='\(order)' kernelMatrix='\(kernel)'/></filter>"
                + "<circle cx='\(side / 2)' cy='\(side / 2)' r='\(side / 3)' filter='url(#f)'/>", side: side)
    }

    static func dashes(_ length: String, dash: String) -> Data {
        document("<path d='M0 0H\(length)' stroke='#000' stroke-dasharray='\(dash)'/>" + square)
    }

    static func styledDashes(_ length: String, dash: String) -> Data {
        document("<style>path{stroke:#000;stroke-dash\\61rray:\(dash)}</style><path d='M0 0H\(length)'/>" + square)
    }

    static func markers(vertices: Int, elements: Int) -> Data {
        let marker = "<marker id='m'>" + times(elements, "<circle r='2'/>") + "</marker>"
        return document(
            marker + "<path marker-mid='url(#m)' d='M0 0" + times(vertices, "L9 9L50 7") + "'/>" + square)
    }

    static func inheritedMarkers(vertices: Int, elements: Int) -> Data {
        let marker = "<marker id='m'>" + times(elements, "<circle r='2'/>") + "</marker>"
        return document(
            "<style>.a{marker:url(#m)}</style>\(marker)<g class='a'><path d='M0 0"
                + times(vertices, "L9 9L50 7") + "'/></g>" + square)
    }

    static func layers(_ count: Int, nested: Bool, side: Int) -> Data {
        let group = "<g opacity='.99'>"
        let body = nested ? times(count, group) + square + times(count, "</g>") : times(count, group + square + "</g>")
        return document(body, side: side)
    }

    /// Shapes that all cover the whole canvas.
    /// - Parameter paint: the attributes that fill them.
    static func coveringShapes(_ count: Int, _ paint: String, side: Int) -> Data {
        let gradient = "<radialGradient id='g'><stop stop-color='red'/><stop offset='1'/></radialGradient>"
        return document(gradient + times(count, "<rect width='\(side)' height='\(side)' \(paint)/>"), side: side)
    }

    static func styledLayers(_ count: Int, side: Int) -> Data {
        document("<style>g{opacity:.99}</style>" + times(count, "<g>") + square + times(count, "</g>"), side: side)
    }

    static func stylePatterns(_ levels: Int, _ count: Int) -> Data {
        let rules = (0...levels).map { ".c\($0){fill:url(#p\($0))}" }.joined()
        return document("<style>\(rules)</style>" + patterns(levels, count) { "class='c\($0)'" })
    }

    static func escapedPatterns(_ levels: Int, _ count: Int) -> Data {
        document(patterns(levels, count) { "style='fill:u\\72l(#\\70 \($0))'" })
    }

    static func quotedPatterns(_ levels: Int, _ count: Int) -> Data {
        let body = patterns(levels, count) { "style='fill:url(\"#p)\($0)\")'" }
        return document(body.replacingOccurrences(of: "id='p", with: "id='p)"))
    }

    static func importedPatterns(_ levels: Int, _ count: Int) -> Data {
        let rules = (0...levels).map { ".c\($0){fill:url(#p\($0))}" }.joined()
        let address = "data:text/css;base64,\(Data(rules.utf8).base64EncodedString())"
        return document("<style>@import url(\"\(address)\");</style>" + patterns(levels, count) { "class='c\($0)'" })
    }

    static func selectors(_ count: Int, elements: Int) -> Data {
        let rules = (0..<count).map { "g g g g .x\($0)" }.joined(separator: ",")
        return document("<style>\(rules){fill:#0f0}</style>" + times(elements, "<g class='a'/>") + square)
    }

    static func nestedSelectors(_ depth: Int, parts: Int) -> Data {
        let selector = times(parts, "g ") + "rect:not(g)"
        return document(
            "<style>svg>a \(selector){fill:#0f0}</style>" + times(depth, "<g>") + times(200, square)
                + times(depth, "</g>"))
    }
}
