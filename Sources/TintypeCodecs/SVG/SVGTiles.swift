#if SVG
/// Tells whether a filter may repeat an empty part of a picture (`feTile`), at which librsvg 2.54 ends the process.
///
/// A part is empty if it lies outside of its filter's region or of the canvas. Only plain numbers in the coordinates of the whole drawing
/// are followed. Whatever moves coordinates, or comes from a style sheet, may make a part empty.
struct SVGTiles {
    private struct Box {
        var x, y, width, height: Double

        func clipped(to other: Box) -> Box? {
            let (left, top) = (max(x, other.x), max(y, other.y))
            let right = min(x + width, other.x + other.width)
            let bottom = min(y + height, other.y + other.height)
            // Less is lost in rounding.
            guard right - left > 0.01, bottom - top > 0.01 else { return nil }
            return Box(x: left, y: top, width: right - left, height: bottom - top)
        }
    }

    private struct Filter {
        var depth: Int
        var isInUserSpace: Bool
        /// Its region, in parts of the shape's box, or in the coordinates of the drawing.
        var frame: Box?
        /// The parts to which its primitives are limited.
        var parts: [Box] = []
        var hasTile = false
    }

    /// A shape with a filter.
    private struct Shape {
        var filter: [UInt8]
        /// `nil` for one whose size isn't known.
        var box: Box?
    }

    /// Elements that have coordinates of their own, or draw others.
    private static let moving: Set<String> = [
        "clipPath", "foreignObject", "image", "marker", "mask", "pattern", "style", "symbol", "use",
    ]
    /// More parts and shapes aren't followed.
    private static let maximumCount = 10_000

    private var canvas: Box?
    private var filters: [[UInt8]: Filter] = [:]
    private var shapes: [Shape] = []
    /// The filter whose primitives come.
    private var current: [UInt8]?
    private var count = 0
    private var hasTile = false
    private var isUncertain = false

    /// True if a part may be empty.
    var mayBeEmpty: Bool {
        guard hasTile else { return false }
        guard !isUncertain, let canvas else { return true }
        return shapes.contains { shape in
            guard let filter = filters[shape.filter] else { return true }
            guard filter.hasTile else { return false }
            guard let region = Self.region(filter, of: shape, on: canvas)?.clipped(to: canvas) else { return true }
            return filter.parts.contains { $0.clipped(to: region) == nil }
        }
    }

    private static func region(_ filter: Filter, of shape: Shape, on canvas: Box) -> Box? {
        // Filter Effects Module Level 1, section 8.1: a tenth more on each side.
        let usual = Box(x: -0.1, y: -0.1, width: 1.2, height: 1.2)
        if filter.isInUserSpace, let frame = filter.frame { return frame }
        let frame = filter.isInUserSpace ? usual : filter.frame ?? usual
        // Percentages of the drawing count from zero.
        let base = filter.isInUserSpace ? Box(x: 0, y: 0, width: canvas.width, height: canvas.height) : shape.box
        return base.map { base in
            Box(
                x: base.x + frame.x * base.width, y: base.y + frame.y * base.height, width: frame.width * base.width,
                height: frame.height * base.height)
        }
    }

    // MARK: Reading

    /// Takes an element.
    /// - Parameters:
    ///   - depth: the number of elements around it, and itself.
    ///   - attribute: returns the value of an attribute.
    mutating func begin(_ name: String, depth: Int, _ attribute: (String) -> String?) {
        if let current, depth <= filters[current]?.depth ?? 0 { self.current = nil }
        if Self.moving.contains(name) || attribute("transform") != nil || Self.isFiltering(attribute("style")) {
            isUncertain = true
        }
        if name == "svg" { beginDrawing(depth, attribute) }
        if let current, let filter = filters[current], depth == filter.depth + 1, name.hasPrefix("fe") {
            add(primitive: name, to: current, attribute)
        } else if name == "feTile" {
            (hasTile, isUncertain) = (true, true)
        }
        if name == "filter" { beginFilter(depth, attribute) }
        if let address = attribute("filter") { add(shape: name, filter: address, attribute) }
        if count > Self.maximumCount { isUncertain = true }
    }

    private static func isFiltering(_ style: String?) -> Bool {
        guard let style = style?.lowercased() else { return false }
        return style.contains("\\") || style.contains("filter") || style.contains("transform")
    }

    private mutating func beginDrawing(_ depth: Int, _ attribute: (String) -> String?) {
        guard depth == 1, attribute("preserveAspectRatio") == nil else { return isUncertain = true }
        if let text = attribute("viewBox") {
            let numbers = text.split { $0 == "," || $0.isWhitespace }.compactMap { Self.number(String($0)) }
            guard numbers.count == 4 else { return }
            canvas = Box(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
        } else if let width = Self.number(attribute("width")), let height = Self.number(attribute("height")) {
            canvas = Box(x: 0, y: 0, width: width, height: height)
        }
    }

    private mutating func beginFilter(_ depth: Int, _ attribute: (String) -> String?) {
        let id = Array((attribute("id") ?? "").utf8)
        let units = attribute("filterUnits")
        guard !id.isEmpty, filters[id] == nil, attribute("primitiveUnits") == nil, attribute("href") == nil,
            [nil, "userSpaceOnUse", "objectBoundingBox"].contains(units)
        else { return isUncertain = true }
        count += 1
        filters[id] = Filter(depth: depth, isInUserSpace: units == "userSpaceOnUse", frame: box(attribute))
        current = id
    }

    private mutating func add(primitive name: String, to filter: [UInt8], _ attribute: (String) -> String?) {
        if name == "feTile" {
            hasTile = true
            filters[filter]?.hasTile = true
        }
        guard let part = box(attribute) else { return }
        count += 1
        if count <= Self.maximumCount { filters[filter]?.parts.append(part) }
    }

    private mutating func add(shape name: String, filter: String, _ attribute: (String) -> String?) {
        guard filter != "none" else { return }
        guard filter.hasPrefix("url(#"), filter.hasSuffix(")") else { return isUncertain = true }
        var box: Box?
        if name == "rect", let width = Self.number(attribute("width")), let height = Self.number(attribute("height")) {
            let (x, y) = (attribute("x").map { Self.number($0) } ?? 0, attribute("y").map { Self.number($0) } ?? 0)
            if let x, let y { box = Box(x: x, y: y, width: width, height: height) }
        }
        count += 1
        if count <= Self.maximumCount {
            shapes.append(Shape(filter: Array(filter.utf8.dropFirst(5).dropLast()), box: box))
        }
    }

    /// Returns the box of an element that states all of it; `nil` if it states nothing. Anything else is uncertain.
    private mutating func box(_ attribute: (String) -> String?) -> Box? {
        let texts = ["x", "y", "width", "height"].compactMap { attribute($0) }
        guard !texts.isEmpty else { return nil }
        let numbers = texts.compactMap { Self.number($0) }
        guard numbers.count == 4 else {
            isUncertain = true
            return nil
        }
        return Box(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
    }

    private static func number(_ text: String?) -> Double? {
        guard let text, text.utf8.count < 32, let number = Double(text), abs(number) < 1e6 else { return nil }
        return number
    }
}
#endif
