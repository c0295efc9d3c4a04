#if SVG
internal import TintypeImages

/// Counts the elements that a document draws when each reference is followed.
struct SVGExpansion {
    private let contents: SVGContents
    private var totals: [Int: Double] = [:]
    private var steps = 0
    /// The depths of the elements whose totals are being computed.
    private var unfinished: [Int: Int] = [:]
    /// The smallest depth of elements that their own contents refer to.
    private var circleDepth = Int.max

    /// References to references; librsvg follows no more on its stack either.
    private static let maximumDepth = 200
    private static let enough = 1e15
    private static let maximumSteps = 4_000_000

    init(_ contents: SVGContents) { self.contents = contents }

    /// The number of elements of the whole document.
    /// - Throws: ``ImageError/Code/limitExceeded`` for references that can't be followed to their ends.
    mutating func total() throws(ImageError) -> Double {
        contents.elements.isEmpty ? 0 : try total(of: 0, depth: 0)
    }

    /// The number of an element and its descendants.
    private mutating func total(of element: Int, depth: Int) throws(ImageError) -> Double {
        if let total = totals[element] { return total }
        guard depth < Self.maximumDepth else { throw Self.failure }
        // Elements that refer to themselves draw nothing.
        if let first = unfinished[element] {
            circleDepth = min(circleDepth, first)
            return 0
        }
        unfinished[element] = depth
        defer { unfinished[element] = nil }
        let end = min(contents.elements[element].end, contents.elements.count)
        var total = Double(end - element)
        var index = contents.elements[element].firstReference
        while index < contents.references.count, contents.references[index].element < end {
            steps += 1
            if let target = contents.ids[contents.references[index].target] {
                total += try self.total(of: target, depth: depth + 1)
            }
            guard total < Self.enough, steps < Self.maximumSteps else { throw Self.failure }
            index += 1
        }
        // A total without an element around it doesn't apply to drawing it elsewhere.
        if circleDepth >= depth {
            totals[element] = total
            circleDepth = .max
        }
        return total
    }

    private static var failure: ImageError { SVGContents.refusal("has elements that refer to each other too often") }
}
#endif
