/// Columns of text, as wide as they need to be.
package struct Table {
    package enum Alignment { case left, right }

    private let titles: [String]
    private let alignments: [Alignment]
    private var rows: [[String]] = []

    package init(_ columns: [(title: String, alignment: Alignment)]) {
        titles = columns.map(\.title)
        alignments = columns.map(\.alignment)
    }

    package mutating func add(_ row: [String]) { rows.append(row) }

    /// The titles, a rule, and the rows.
    package var lines: [String] {
        let widths = titles.indices.map { column in
            ([titles] + rows).map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        let rule = widths.map { String(repeating: "─", count: $0) }.joined(separator: "  ")
        return [line(titles, widths), rule] + rows.map { line($0, widths) }
    }

    private func line(_ row: [String], _ widths: [Int]) -> String {
        var text = ""
        for (column, width) in widths.enumerated() {
            let cell = column < row.count ? row[column] : ""
            let padding = String(repeating: " ", count: width - cell.count)
            text += (column == 0 ? "" : "  ") + (alignments[column] == .left ? cell + padding : padding + cell)
        }
        while text.last == " " { text.removeLast() }
        return text
    }
}
