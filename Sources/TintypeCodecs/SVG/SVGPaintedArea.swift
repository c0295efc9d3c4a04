#if SVG
internal import TintypeImages

/// Estimates the operations for each pixel of the canvas with which elements paint shapes, images, and text.
///
/// No element paints more than its box, nor more than the canvas. Boxes are those of coordinates, enlarged by transformations and
/// coordinate systems; where those aren't known, the element counts as large as the canvas.
struct SVGPaintedArea {
    // Operations for each pixel. One takes about half a nanosecond with cairo 1.18: a translucent color 0.24, a radial gradient 1.7, an image 2.3.
    private static let plainWork = 0.5
    private static let serverWork = 3.0
    private static let imageWork = 5.0
    /// The most that an element takes, whatever it is.
    static let mostWork = imageWork
    /// The size of fonts without a statement.
    private static let usualFontSize = 16.0

    /// The properties that elements hand down to those within them.
    private struct Scope {
        var end = Int.max
        /// The factor of coordinate systems.
        var zoom = 1.0
        /// The longest side of the coordinate system.
        var side: Double
        var strokeWidth = 1.0
        var fontSize = SVGPaintedArea.usualFontSize
        var hasServer = false
        var hasScreenStroke = false
        var isReferenced = false
    }

    private let elements: [SVGElement]
    private let references: [(source: Int, target: Int)]
    /// The largest factor that the transformations of style sheets, and of elements, may have.
    private let sheetScale: Double
    private let largestScale: Double
    /// The sides of the canvas, in units of the drawing.
    private let canvas: SIMD2<Double>
    private let canvasSide: Double
    /// The longest side of any coordinate system.
    private let longestSide: Double
    /// The largest width of lines that any element states.
    private let thickestLine: Double

    /// - Parameter natural: the size of the drawing.
    init(_ contents: SVGContents, natural: PixelSize) {
        elements = contents.elements
        references = contents.references.compactMap { reference in
            contents.ids[reference.target].map { (reference.element, $0) }
        }
        sheetScale = max(1, contents.sheetScale)
        largestScale = max(1, contents.largestScale)
        thickestLine = elements.reduce(1) { max($0, $1.painting.strokeWidth ?? 0) }
        let root = elements.first?.painting
        let size = root?.viewBox ?? SIMD2(Double(natural.width), Double(natural.height))
        canvas = root?.isSlice == true ? SIMD2(repeating: size.min()) : size
        canvasSide = max(size.max(), Double(max(natural.width, natural.height)))
        longestSide = elements.reduce(canvasSide) { max($0, $1.painting.viewBox?.max() ?? 0) }
    }

    /// The operations of each element by itself, in the order of the document.
    /// - Parameter depth: the length of the longest chain of references.
    func work(depth: Int) -> [Double] {
        let targets = Set(references.map(\.target))
        let places = placesOfTargets()
        var scopes = [Scope(side: canvasSide)]
        let all = elements.indices.map { index in
            while let last = scopes.last, last.end <= index { scopes.removeLast() }
            var scope = scope(of: index, within: scopes[scopes.count - 1], place: places[index])
            if targets.contains(index) {
                scope.isReferenced = true
                // It isn't known in which coordinate system it is drawn.
                if elements[index].painting.viewBox == nil { scope.side = longestSide }
            }
            scopes.append(scope)
            return (scope: scope, depth: scopes.count)
        }
        // What is used takes its lines and its scale from whoever uses it.
        let sources = references.map { all[$0.source].scope }
        let strokeWidth = sources.reduce(0) { max($0, $1.strokeWidth) }
        let reuse = Self.power(largestScale * sheetScale * sources.reduce(1) { max($0, $1.zoom) }, depth)
        return elements.indices.map { index in
            var scope = all[index].scope
            var scale = elements[index].scale * Self.power(sheetScale, all[index].depth) * scope.zoom
            if scope.isReferenced {
                scope.strokeWidth = max(scope.strokeWidth, strokeWidth)
                scale *= reuse
            }
            return work(elements[index].painting, scope, scale)
        }
    }

    private static func power(_ factor: Double, _ count: Int) -> Double {
        var product = 1.0
        for _ in 0..<count where product < 1e30 { product *= factor }
        return product
    }

    /// The longest sides of the places in which references put coordinate systems.
    private func placesOfTargets() -> [Int: Double] {
        references.reduce(into: [:]) { places, reference in
            let user = elements[reference.source].painting
            guard user.kind == .viewport, elements[reference.target].painting.kind == .viewport else { return }
            // Without a size of its own, the target's counts.
            let target = elements[reference.target].painting
            let place = side(user, within: longestSide, or: side(target, within: longestSide, or: longestSide))
            places[reference.target] = max(places[reference.target] ?? 0, place)
        }
    }

    /// The longest side that an element states; another one if it states none.
    private func side(_ painting: SVGPainting, within outer: Double, or other: Double) -> Double {
        guard !painting.hasStyledSize else { return .infinity }
        let (width, height) = (painting.width?.units(canvas: outer), painting.height?.units(canvas: outer))
        return max(width ?? other, height ?? other)
    }

    /// - Parameter place: the longest side of the places in which references put the element.
    private func scope(of index: Int, within outer: Scope, place: Double?) -> Scope {
        let painting = elements[index].painting
        var scope = outer
        scope.end = max(index + 1, elements[index].end)
        scope.strokeWidth = painting.strokeWidth ?? outer.strokeWidth
        scope.fontSize = painting.fontSize.size(within: outer.fontSize)
        scope.hasServer = outer.hasServer || painting.hasServer
        scope.hasScreenStroke = outer.hasScreenStroke || painting.hasScreenStroke
        guard index > 0 else { return scope }
        if painting.isRelative { scope.zoom = .infinity }
        if painting.kind == .marker, !painting.isFixedMarker { scope.zoom *= thickestLine }
        guard let viewBox = painting.viewBox else { return scope }
        scope.side = viewBox.max()
        let filled =
            switch painting.kind {
            case .marker: side(painting, within: longestSide, or: 3)
            case .viewport: max(place ?? 0, side(painting, within: outer.side, or: outer.side))
            // The tile of a pattern may be as large as what it paints.
            default: max(side(painting, within: outer.side, or: 0), canvasSide)
            }
        scope.zoom *= filled / viewBox.min()
        return scope
    }

    private func work(_ painting: SVGPainting, _ scope: Scope, _ scale: Double) -> Double {
        let area = canvas.x * canvas.y
        /// The part of the canvas that a box covers.
        func part(_ width: Double, _ height: Double, times count: Double = 1) -> Double {
            let part = width * scale * height * scale * count / area
            // A side of zero and a factor without end.
            return part.isNaN ? (width > 0 && height > 0 ? count : 0) : min(part, count)
        }
        func units(_ side: SVGLength?) -> Double { side?.units(canvas: scope.side) ?? 0 }
        let fill = scope.hasServer ? Self.serverWork : Self.plainWork
        switch painting.kind {
        case .shape:
            guard !painting.hasStyledSize else { return 2 * fill }
            // A shape with a single radius has it in both directions.
            let box = part(units(painting.width ?? painting.height), units(painting.height ?? painting.width))
            return fill * (box + (scope.hasScreenStroke ? 1 : part(painting.length, scope.strokeWidth)))
        case .image:
            guard !painting.hasStyledSize, let width = painting.width, let height = painting.height else {
                return Self.imageWork + painting.drawing
            }
            return Self.imageWork * part(units(width), units(height)) + painting.drawing
        // Characters are drawn into a mask first.
        case .text: return 2 * fill * part(scope.fontSize, scope.fontSize, times: painting.characters)
        case .viewport, .marker, .other: return painting.drawing
        }
    }
}
#endif
