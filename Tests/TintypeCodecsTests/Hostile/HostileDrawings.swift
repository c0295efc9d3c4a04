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

    /// A square with an effect of a number of steps.
    static func effect(_ step: String, _ count: Int = 1, side: Int = 100) -> Data {
        document(
            "<filter id='f' x='0' y='0' width='1' height='1'>\(times(count, step))</filter>"
                + "<rect width='\(side)' height='\(side)' fill='#0f0' filter='url(#f)'/>", side: side)
    }

    /// An effect whose steps all keep their pictures.
    static func results(_ count: Int, side: Int) -> Data {
        effect((1...count).map { "<feFlood result='r\($0)'/>" }.joined(), side: side)
    }

    static func filledPatterns(_ levels: Int, _ count: Int) -> Data {
        document(patterns(levels, count) { "fill='url(#p\($0))'" })
    }
}
