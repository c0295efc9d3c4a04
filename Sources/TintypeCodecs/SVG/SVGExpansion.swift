#if SVG
internal import TintypeImages

/// Counts the elements that a document draws when each reference is followed.
struct SVGExpansion {
    private let contents: SVGContents
    /// The element of each reference, by its place in the document.
    private let targets: [Int?]
    /// Counting ends beyond this number of elements.
    private let limit: Int
    private var drawn = 0
    private var steps = 0
    /// The elements whose references are being followed.
    private var unfinished: Set<Int> = []

    /// References to references; librsvg follows no more on its stack either.
    private static let maximumDepth = 200
    private static let maximumSteps = 4_000_000

    private init(_ contents: SVGContents, limit: Int) {
        (self.contents, self.limit) = (contents, limit)
        // Once: ids may be long.
        targets = contents.references.map { contents.ids[$0.target] }
    }

    /// Returns the number of elements of the whole document, or a number above the limit.
    /// - Throws: ``ImageError/Code/limitExceeded`` for references that can't be followed to their ends.
    static func count(_ contents: SVGContents, limit: Int) throws(ImageError) -> Int {
        var expansion = SVGExpansion(contents, limit: limit)
        if !contents.elements.isEmpty { try expansion.draw(0) }
        return expansion.drawn
    }

    /// Counts an element, its descendants, and whatever they refer to.
    private mutating func draw(_ element: Int) throws(ImageError) {
        guard unfinished.count < Self.maximumDepth, steps < Self.maximumSteps else {
            throw SVGContents.refusal("has elements that refer to each other too often")
        }
        // Elements that refer to themselves draw nothing.
        guard unfinished.insert(element).inserted else { return }
        defer { unfinished.remove(element) }
        let end = min(contents.elements[element].end, contents.elements.count)
        drawn += end - element
        var index = contents.elements[element].firstReference
        while index < targets.count, contents.references[index].element < end, drawn <= limit {
            steps += 1
            if let target = targets[index] { try draw(target) }
            index += 1
        }
    }
}
#endif
