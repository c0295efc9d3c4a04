#if SVG
/// Reads the attributes of one element, as far as they change the cost of drawing.
struct SVGAttributes {
    private let name: String
    /// The cost of the element by itself.
    private(set) var cost = SVGCost()
    /// A length that no side of the element exceeds, in units of the drawing.
    private(set) var extent = 0.0
    /// The size of the element.
    private(set) var painting = SVGPainting()
    /// The factor of the element's transformations.
    private(set) var scale = 1.0
    /// The tile of the element, if it is a pattern.
    private(set) var pattern: SVGPattern?
    /// The reason for which the document is refused.
    private(set) var refusal: String?

    /// The longest side of the kernel of a convolution, whose time grows with its area.
    private static let maximumOrder = 20.0

    init(element name: String) {
        self.name = name
        if name == "pattern" { pattern = SVGPattern() }
        // The operations of a primitive for each pixel: most read their input and write a picture.
        if name.hasPrefix("fe") { cost.filters = name == "feGaussianBlur" || name.hasSuffix("Lighting") ? 12 : 4 }
    }

    mutating func read(_ attribute: String, _ value: ArraySlice<UInt8>, _ contents: inout SVGContents, index: Int) {
        pattern?.read(attribute, value)
        // The corners of a rectangle are no radii of its own.
        if name != "rect" || attribute != "rx" && attribute != "ry" { painting.read(attribute, value) }
        switch attribute {
        case "id": contents.name(index, Array(value))
        case "class": contents.add(classes: String(decoding: value, as: UTF8.self), to: index)
        case "href": follow(value, &contents, index)
        case "style":
            let style = SVGStyle(CSSTokenizer.tokens(value)[...])
            scale *= style.scale
            contents.apply(style, to: index)
        case "d": measure(SVGPathMeasure(path: value))
        case "points": measure(SVGPathMeasure(points: value))
        case "transform": scale *= SVGTransform.scale(value)
        case "viewBox":
            for side in SVGNumber.all(value).dropFirst(2) { contents.fill(viewBox: side) }
        case "x", "y", "x1", "y1", "x2", "y2", "width", "height", "r", "rx", "ry", "cx", "cy":
            measureShape(attribute, value)
        case "pathLength": cost.length += max(0, Self.number(value)?.value ?? 0)
        case "numOctaves", "radius", "order": readPrimitive(attribute, value)
        default:
            // Most attributes are words or numbers, which no reference is in.
            guard value.contains(UInt8(ascii: "(")) || Self.others.contains(attribute) else { return }
            contents.apply(SVGStyle(attribute: attribute, value), to: index)
        }
    }

    private static let others: Set<String> = [
        "opacity", "mask", "filter", "mix-blend-mode", "isolation", "stroke-dasharray", "stroke-width", "font-size",
        "font",
        "vector-effect",
    ]

    private mutating func follow(_ value: ArraySlice<UInt8>, _ contents: inout SVGContents, _ index: Int) {
        // The target of a link is not drawn.
        guard name != "a" else { return }
        if name == "include", SVGAddress(value).isData {
            refusal = "includes a document in a data URL, which is not read"
        } else {
            contents.follow(value, from: index)
        }
    }

    private mutating func measure(_ path: SVGPathMeasure) {
        cost.vertices += Double(path.vertices)
        cost.length += path.length
        extent = max(extent, path.length)
        painting.add(path)
    }

    /// Adds a number of a shape to the length of its outline: the number is at most that of all lines between two points.
    private mutating func measureShape(_ attribute: String, _ value: ArraySlice<UInt8>) {
        guard ["rect", "line", "circle", "ellipse"].contains(name), let (number, end) = Self.number(value) else {
            return
        }
        cost.vertices += 1
        let length = abs(number) * (end < value.endIndex ? SVGNumber.longestUnit : 1)
        cost.length += 7 * length
        // The place of a shape is no part of its outline, except for a line.
        if name == "line" || !["x", "y", "cx", "cy"].contains(attribute) { painting.length += 7 * length }
        extent += 2 * length
    }

    private static func number(_ value: ArraySlice<UInt8>) -> (value: Double, end: Int)? {
        SVGNumber.read(value, from: value.firstIndex { $0 > 0x20 } ?? value.startIndex)
    }

    private mutating func readPrimitive(_ attribute: String, _ value: ArraySlice<UInt8>) {
        let numbers = SVGNumber.all(value)
        guard let largest = numbers.max(), largest > 0 else { return }
        switch (name, attribute) {
        case ("feTurbulence", "numOctaves"): cost.filters += 24 * largest
        case ("feMorphology", "radius"): cost.kernels += 4 * largest * largest
        case ("feConvolveMatrix", "order"):
            cost.filters += largest * largest * 4
            if largest > Self.maximumOrder {
                refusal = "has a convolution of order \(largest), over the limit of \(Self.maximumOrder)"
            }
        default: break
        }
    }
}
#endif
