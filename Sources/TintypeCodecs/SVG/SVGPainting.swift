#if SVG
/// The properties of an element that tell how much of the canvas it may paint.
struct SVGPainting {
    enum Kind {
        case shape, image, text
        /// An element with a place and a coordinate system of its own: `svg`, `symbol`, or `use`.
        case viewport
        case marker, other

        init(_ element: String) {
            switch element {
            case "rect", "circle", "ellipse", "line", "path", "polygon", "polyline": self = .shape
            case "image", "foreignObject": self = .image
            case "text", "tspan", "textPath", "tref", "a": self = .text
            case "svg", "symbol", "use": self = .viewport
            case "marker": self = .marker
            default: self = .other
            }
        }
    }

    var kind = Kind.other
    /// The sides of a box around the element, if they are stated.
    var width: SVGLength?
    var height: SVGLength?
    /// The length of the outline, in units of the drawing.
    var length = 0.0
    /// The number of characters that can be seen.
    var characters = 0.0
    /// The operations for each pixel of the canvas that a drawing takes which the element shows as an image.
    var drawing = 0.0

    // MARK: Styles

    /// True if a style says how large the element is.
    var hasStyledSize = false
    /// True if a gradient or a pattern paints the element, or those within it.
    var hasServer = false
    /// The width of lines, if the element states one.
    var strokeWidth: Double?
    /// True if the width of lines is one on the canvas, not in the drawing.
    var hasScreenStroke = false
    var fontSize = SVGFontSize()

    // MARK: Coordinate systems

    /// The sides of the coordinate system that the contents of the element have.
    var viewBox: SIMD2<Double>?
    /// True if the coordinate system covers its place, rather than fits into it.
    var isSlice = false
    /// True if lengths within the element are parts of the element that refers to it.
    var isRelative = false
    /// True if lines make a marker no larger.
    var isFixedMarker = false

    private static let sizes: Set<String> = ["x", "y", "width", "height", "r", "rx", "ry", "cx", "cy", "d"]

    /// Takes a declaration of a style, or an attribute of the same meaning.
    mutating func declare(_ name: String, _ value: ArraySlice<CSSTokenizer.Token>) {
        switch name {
        case "fill", "stroke":
            for case .url in value { hasServer = true }
        case "stroke-width":
            for token in value {
                if case .number(let width) = token { strokeWidth = abs(width) }
                if case .part = token { strokeWidth = .infinity }
            }
        case "vector-effect": hasScreenStroke = value.contains { $0 != .space && $0 != .name("none") }
        case "font-size", "font": fontSize = SVGFontSize(value)
        case _ where Self.sizes.contains(name): hasStyledSize = true
        default: break
        }
    }

    /// Takes an attribute that is no style.
    mutating func read(_ attribute: String, _ value: ArraySlice<UInt8>) {
        switch attribute {
        case "width", "markerWidth": width = SVGLength(value)
        case "height", "markerHeight": height = SVGLength(value)
        case "r": (width, height) = (SVGLength(value, times: 2), SVGLength(value, times: 2))
        // One without the other is a circle.
        case "rx": width = SVGLength(value, times: 2)
        case "ry": height = SVGLength(value, times: 2)
        case "viewBox":
            let numbers = SVGNumber.all(value)
            if numbers.count >= 4, numbers[2] > 0, numbers[3] > 0 { viewBox = SIMD2(numbers[2], numbers[3]) }
        case "preserveAspectRatio": isSlice = value.suffix(5).elementsEqual("slice".utf8)
        case "clipPathUnits", "maskContentUnits", "patternContentUnits":
            isRelative = isRelative || value.elementsEqual("objectBoundingBox".utf8)
        case "markerUnits": isFixedMarker = value.elementsEqual("userSpaceOnUse".utf8)
        default: break
        }
    }

    /// Takes the size that attributes state.
    mutating func take(_ attributes: SVGPainting) {
        (width, height, length) = (attributes.width, attributes.height, attributes.length)
        (viewBox, isSlice) = (attributes.viewBox, attributes.isSlice)
        (isRelative, isFixedMarker) = (attributes.isRelative, attributes.isFixedMarker)
    }

    mutating func add(_ path: SVGPathMeasure) {
        (width, height) = (.units(path.box.x), .units(path.box.y))
        length += path.length
    }

    /// Takes what a style says.
    mutating func apply(_ style: SVGPainting) {
        hasStyledSize = hasStyledSize || style.hasStyledSize
        hasServer = hasServer || style.hasServer
        hasScreenStroke = hasScreenStroke || style.hasScreenStroke
        strokeWidth = [strokeWidth, style.strokeWidth].compactMap(\.self).max()
        fontSize.include(style.fontSize)
    }

    /// True if the properties of a style are worth a look at the elements that it applies to.
    var isStyled: Bool {
        hasStyledSize || hasServer || hasScreenStroke || strokeWidth != nil || fontSize.isStated
    }
}

/// A length of an attribute.
enum SVGLength {
    case units(Double)
    /// A part of the canvas.
    case part(Double)
    /// A length that depends on a font, or anything else.
    case unknown

    init?(_ value: ArraySlice<UInt8>, times factor: Double = 1) {
        guard let (number, end) = SVGNumber.read(value, from: value.firstIndex { $0 > 0x20 } ?? value.startIndex) else {
            return nil
        }
        let unit = String(decoding: value[end...].filter { $0 > 0x20 }, as: UTF8.self).lowercased()
        switch unit {
        case "": self = .units(abs(number) * factor)
        case "%": self = .part(abs(number) * factor / 100)
        default: self = SVGNumber.units[unit].map { .units(abs(number) * factor * $0) } ?? .unknown
        }
    }

    /// - Parameter canvas: the longest side of the canvas.
    func units(canvas: Double) -> Double {
        switch self {
        case .units(let length): length
        case .part(let part): part * canvas
        case .unknown: .infinity
        }
    }
}

/// The size of a font, as styles state it.
struct SVGFontSize {
    /// In units of the drawing.
    private var absolute: Double?
    /// A multiple of the size around the element.
    private var relative: Double?

    var isStated: Bool { absolute != nil || relative != nil }

    init() {}

    /// Reads the value of `font-size` or `font`.
    init(_ value: ArraySlice<CSSTokenizer.Token>) {
        // The height of lines follows a slash, and a weight comes first.
        for token in value.prefix(while: { $0 != .mark(UInt8(ascii: "/")) }) {
            switch token {
            case .number(let size): (absolute, relative) = (abs(size), nil)
            case .part(let part): (absolute, relative) = (nil, abs(part))
            case .name("larger"): (absolute, relative) = (nil, 1.5)
            // The largest is three times as large as a usual one.
            case .name(let name) where name.hasSuffix("large"): (absolute, relative) = (48, nil)
            default: break
            }
        }
    }

    /// Takes another statement, of which it isn't known which one holds.
    mutating func include(_ other: SVGFontSize) {
        absolute = [absolute, other.absolute].compactMap(\.self).max()
        relative = [relative, other.relative].compactMap(\.self).max()
    }

    func size(within outer: Double) -> Double {
        isStated ? min(max(absolute ?? 0, (relative ?? 0) * outer), 1e15) : outer
    }
}
#endif
