#if SVG
internal import TintypeImages

/// Counts what a document draws when each reference is followed.
struct SVGExpansion {
    /// The cost of drawing an element, and the most layers on top of each other.
    struct Total {
        var cost = SVGCost()
        var layerDepth = 0
    }

    private let contents: SVGContents
    /// The sums of the costs of all elements before each one.
    private var sums: [SVGCost] = []
    private var totals: [Int: Total] = [:]
    private var vertices: [Int: Double] = [:]
    private var steps = 0
    /// The length of the longest chain of references.
    private(set) var deepest = 0
    /// The depths of the elements whose totals are being computed.
    private var unfinished: [Int: Int] = [:]
    /// The smallest depth of those that something refers to which is inside of them.
    private var circleDepth = Int.max

    /// References to references; librsvg follows no more on its stack either.
    private static let maximumDepth = 200
    private static let enough = 1e15
    private static let maximumSteps = 4_000_000

    init(_ contents: SVGContents) {
        self.contents = contents
        sums.reserveCapacity(contents.elements.count + 1)
        var sum = SVGCost()
        sums.append(sum)
        for element in contents.elements {
            sum += element.cost
            sums.append(sum)
        }
    }

    /// The cost of the whole document.
    /// - Throws: ``ImageError/Code/limitExceeded`` for references that can't be followed to their ends.
    mutating func total() throws(ImageError) -> Total {
        contents.elements.isEmpty ? Total() : try total(of: 0, depth: 0)
    }

    /// The cost of one element, with those within it.
    private mutating func total(of element: Int, depth: Int) throws(ImageError) -> Total {
        if let total = totals[element] { return total }
        guard depth < Self.maximumDepth else { throw Self.failure }
        deepest = max(deepest, depth)
        // What refers to itself draws nothing.
        if let first = unfinished[element] {
            circleDepth = min(circleDepth, first)
            return Total()
        }
        unfinished[element] = depth
        defer { unfinished[element] = nil }
        let end = max(element + 1, contents.elements[element].end)
        var total = Total(cost: ownCost(element..<end))
        let outside = contents.elements[element].layerDepth - (contents.elements[element].cost.layers > 0 ? 1 : 0)
        try step(end - element, divisor: 8)
        for index in element..<end {
            let element = contents.elements[index]
            total.layerDepth = max(total.layerDepth, element.layerDepth + element.drawingDepth - outside)
        }
        var index = firstReference(from: element)
        while index < contents.references.count, contents.references[index].element < end {
            let reference = contents.references[index]
            try step(1)
            if let target = contents.ids[reference.target] {
                let drawn = try self.total(of: target, depth: depth + 1)
                let times = reference.isMarker ? try vertices(of: reference.element, depth: depth + 1) : 1
                total.cost.add(drawn.cost, times: times)
                total.layerDepth = max(
                    total.layerDepth,
                    contents.elements[reference.element].layerDepth - outside + drawn.layerDepth)
                guard total.cost.elements < Self.enough else { throw Self.failure }
            }
            index += 1
        }
        // A total without an element around it is not that of drawing it elsewhere.
        if circleDepth >= depth {
            totals[element] = total
            circleDepth = .max
        }
        return total
    }

    /// The vertices that an element draws, except those of markers.
    private mutating func vertices(of element: Int, depth: Int) throws(ImageError) -> Double {
        if let count = vertices[element] { return count }
        guard depth < Self.maximumDepth else { throw Self.failure }
        vertices[element] = 0
        let end = max(element + 1, contents.elements[element].end)
        var count = ownCost(element..<end).vertices
        var index = firstReference(from: element)
        while index < contents.references.count, contents.references[index].element < end {
            try step(1)
            let reference = contents.references[index]
            if !reference.isMarker, let target = contents.ids[reference.target] {
                count += try vertices(of: target, depth: depth + 1)
            }
            index += 1
        }
        vertices[element] = count
        return count
    }

    private func ownCost(_ range: Range<Int>) -> SVGCost {
        var cost = sums[range.upperBound]
        cost.add(sums[range.lowerBound], times: -1)
        return cost
    }

    private mutating func step(_ count: Int, divisor: Int = 1) throws(ImageError) {
        steps += count / divisor + 1
        guard steps < Self.maximumSteps else { throw Self.failure }
    }

    /// The first reference of an element or one behind it.
    private func firstReference(from element: Int) -> Int {
        var range = 0..<contents.references.count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            range =
                contents.references[middle].element < element
                ? (middle + 1)..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    private static var failure: ImageError { SVGContents.refusal("has elements that refer to each other too often") }
}
#endif
