#if SVG
internal import FoundationEssentials
internal import TintypeImages

/// The contents of an SVG document: its elements, their references and styles, and the images that it embeds.
///
/// The document is read once with libxml2, which librsvg reads it with too, so both see the same. Nothing is loaded: external
/// entities are not declared. What is wrong with the document is left to librsvg to tell; a document that can't be followed to its
/// end is refused.
struct SVGContents {
    /// An element that draws another one: `use`, or a paint, filter, mask, clip path or marker.
    struct Reference {
        /// The element that refers, by its place in the document.
        var element: Int
        var target: [UInt8]
        /// True if the target is drawn for each vertex of the element.
        var isMarker = false
    }

    /// In the order of the document.
    private(set) var elements: [SVGElement] = []
    /// In the order of their elements.
    private(set) var references: [Reference] = []
    /// By bytes, because texts of Unicode may be equal although their bytes differ.
    private(set) var ids: [[UInt8]: Int] = [:]
    /// The `data:` URLs of images, and the elements that show them.
    private(set) var images: [(element: Int, address: [UInt8])] = []
    /// True if reading stopped at a mistake: what follows isn't known.
    private(set) var isIncomplete = false
    /// True if librsvg may end the process that draws the document.
    private(set) var mayEndProcess = false
    /// The most dashes for a unit of length.
    private(set) var dashDensity = 0.0
    /// The largest factor of all transformations around an element, and its own.
    private(set) var largestScale = 1.0
    /// The largest factor of the transformations of style sheets, which may hold for any element.
    private(set) var sheetScale = 1.0
    /// The longest side of an element, in units of the drawing.
    private(set) var longestExtent = 0.0
    private var patterns: [Int: SVGPattern] = [:]
    /// The shortest side of a coordinate system that an element fills with; `nil` if no element states one.
    private(set) var shortestViewBox: Double?
    private var named: [String: [Int]] = [:]
    private var classes: [String: [Int]] = [:]

    /// More are refused by librsvg too.
    static let maximumElements = 1_000_000
    /// libxml2 reads no deeper where it builds a tree.
    static let maximumDepth = 256
    /// The most comparisons of a part of a selector with an element.
    static let maximumComparisons = 100_000_000

    init(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        let reading = SVGReading()
        reading.read(bytes)
        if let refusal = reading.refusal { throw Self.refusal(refusal) }
        self = reading.contents
        isIncomplete = reading.isIncomplete
        mayEndProcess = reading.tiles.mayBeEmpty
        try apply(SVGStyleSheet(reading.styleSheets), depth: reading.deepest)
        references.sort { $0.element < $1.element }
        sumLayers()
    }

    init() {}

    static func refusal(_ reason: String) -> ImageError {
        ImageError(.limitExceeded, stage: .decode, reason: "the SVG \(reason)")
    }

    var isOverLimit: Bool { max(elements.count, references.count) > Self.maximumElements }

    // MARK: Reading

    mutating func begin(_ name: String) -> Int {
        named[name.lowercased(), default: []].append(elements.count)
        elements.append(SVGElement(painting: SVGPainting(kind: SVGPainting.Kind(name))))
        return elements.count - 1
    }

    mutating func end(_ element: Int) { elements[element].end = elements.count }

    mutating func name(_ element: Int, _ id: [UInt8]) {
        // Of several elements with one id, the first counts.
        if ids[id] == nil { ids[id] = element }
    }

    mutating func add(classes text: String, to element: Int) {
        // A combining character after a space belongs to the next name.
        for name in text.unicodeScalars.split(whereSeparator: \.properties.isWhitespace) {
            classes[String(name).lowercased(), default: []].append(element)
        }
    }

    mutating func add(_ cost: SVGCost, to element: Int) { elements[element].cost += cost }

    /// Adds the cost of a drawing that an element shows.
    mutating func add(_ drawing: SVGExpansion.Total, shownBy element: Int) {
        var cost = drawing.cost
        // Its kernels may be as large as the picture, because its scale isn't known.
        if cost.kernels > 0 { cost.kernels = 1e15 }
        elements[element].cost += cost
        // Each of its elements may be as large as the picture.
        elements[element].painting.drawing += SVGPaintedArea.mostWork * cost.elements
        elements[element].drawingDepth = max(elements[element].drawingDepth, drawing.layerDepth + 1)
    }

    mutating func add(characters count: Int, to element: Int) { elements[element].painting.characters += Double(count) }

    /// Counts the areas that elements paint.
    /// - Parameters:
    ///   - natural: the size of the drawing.
    ///   - depth: the length of the longest chain of references.
    mutating func measureAreas(natural: PixelSize, depth: Int) {
        for (index, work) in SVGPaintedArea(self, natural: natural).work(depth: depth).enumerated() {
            elements[index].cost.painting = work
        }
    }

    mutating func include(dashDensity density: Double) { dashDensity = max(dashDensity, density) }

    /// Takes what the attributes of an element say of it.
    mutating func add(_ attributes: SVGAttributes, to element: Int, within outer: Int?) {
        add(attributes.cost, to: element)
        elements[element].scale = min((outer.map { elements[$0].scale } ?? 1) * attributes.scale, 1e15)
        largestScale = max(largestScale, elements[element].scale)
        longestExtent = max(longestExtent, attributes.extent)
        elements[element].painting.take(attributes.painting)
        if let pattern = attributes.pattern { patterns[element] = pattern }
    }

    /// The patterns that paint anything, with what they take from each other.
    var completePatterns: [SVGPattern] {
        let painted = Set(references.filter { patterns[$0.element] == nil }.map(\.target))
        return painted.compactMap { id in
            guard var pattern = ids[id].flatMap({ patterns[$0] }) else { return nil }
            var next = pattern.target
            // librsvg follows no more, nor circles.
            for _ in 0..<100 {
                guard let target = next.flatMap({ ids[$0] }), let other = patterns[target] else { break }
                pattern.inherit(other)
                next = other.target
            }
            return pattern
        }
    }

    mutating func fill(viewBox side: Double) {
        if side > 0 { shortestViewBox = min(shortestViewBox ?? side, side) }
    }

    /// Follows the address of a reference.
    mutating func follow(_ text: ArraySlice<UInt8>, from element: Int, isMarker: Bool = false) {
        let address = SVGAddress(text)
        if let target = address.fragment {
            references.append(Reference(element: element, target: target, isMarker: isMarker))
        } else if address.isData {
            images.append((element, address.bytes))
        }
    }

    mutating func apply(_ style: SVGStyle, to element: Int) {
        for target in style.references { follow(target[...], from: element) }
        for target in style.markers { follow(target[...], from: element, isMarker: true) }
        // Several styles of one element make one layer.
        if style.isLayer { elements[element].cost.layers = 1 }
        elements[element].cost.filters += style.filters
        dashDensity = max(dashDensity, style.dashDensity)
        elements[element].painting.apply(style.painting)
    }

    /// Applies the rules to all elements that they may match.
    private mutating func apply(_ sheet: SVGStyleSheet, depth: Int) throws(ImageError) {
        guard !sheet.isTooDeep else { throw Self.refusal("has rules within rules, too deep") }
        guard !sheet.importsData else { throw Self.refusal("has a style sheet in a data URL, which is not read") }
        let comparisons = Double(sheet.parts) * Double(elements.count) * (sheet.looksAround ? Double(depth) / 4 + 1 : 1)
        guard comparisons <= Double(Self.maximumComparisons) else {
            throw Self.refusal(
                "has \(elements.count) elements and selectors with \(sheet.parts) parts, which take too long")
        }
        for rule in sheet.rules {
            // Dashes count for all elements.
            dashDensity = max(dashDensity, rule.style.dashDensity)
            sheetScale = max(sheetScale, rule.style.scale)
            guard
                rule.style.isLayer || !rule.style.references.isEmpty || rule.style.filters > 0
                    || rule.style.painting.isStyled
            else { continue }
            for subject in rule.subjects {
                for element in matches(of: subject) { apply(rule.style, to: element) }
                guard !isOverLimit else { throw Self.refusal("has more references than \(Self.maximumElements)") }
            }
        }
    }

    private func matches(of subject: SVGStyleSheet.Subject) -> [Int] {
        switch subject {
        case .all: Array(elements.indices)
        case .named(let name): named[name] ?? []
        case .ofClass(let name): classes[name] ?? []
        case .withID(let id): ids[id].map { [$0] } ?? []
        }
    }

    /// Counts the layers around each element.
    private mutating func sumLayers() {
        var open: [(end: Int, depth: Int)] = []
        for index in elements.indices {
            while let last = open.last, last.end <= index { open.removeLast() }
            let depth = (open.last?.depth ?? 0) + (elements[index].cost.layers > 0 ? 1 : 0)
            elements[index].layerDepth = depth
            if elements[index].end == 0 { elements[index].end = elements.count }
            open.append((elements[index].end, depth))
        }
    }
}
#endif
