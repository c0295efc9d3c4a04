#if SVG
/// The size of a pattern's tile, as far as the attributes of its element tell.
///
/// librsvg draws each tile into a picture of its own, in the size that it has on the canvas, however small the canvas is.
struct SVGPattern {
    /// A length: a number of units of the drawing, or a part of what the units of the pattern say.
    struct Side {
        var value: Double
        var isPercentage: Bool
    }

    var width: Side?
    var height: Side?
    /// True for sides that are parts of the shape that is painted.
    var isRelative: Bool?
    /// The largest factor of `patternTransform`.
    var scale: Double?
    /// The id of a pattern that says what this one doesn't.
    var target: [UInt8]?

    /// Longer sides are an error of cairo.
    private static let longestSide = 32_767.0

    mutating func read(_ attribute: String, _ value: ArraySlice<UInt8>) {
        switch attribute {
        case "width": width = Self.side(value)
        case "height": height = Self.side(value)
        case "patternUnits": isRelative = !value.elementsEqual("userSpaceOnUse".utf8)
        case "patternTransform": scale = SVGTransform.scale(value)
        case "href": target = SVGAddress(value).fragment
        default: break
        }
    }

    private static func side(_ value: ArraySlice<UInt8>) -> Side? {
        guard let (number, end) = SVGNumber.read(value, from: value.firstIndex { $0 > 0x20 } ?? value.startIndex) else {
            return nil
        }
        if end < value.endIndex, value[end] == UInt8(ascii: "%") {
            return Side(value: abs(number) / 100, isPercentage: true)
        }
        let hasUnit = value[end...].contains { $0 > 0x20 }
        return Side(value: abs(number) * (hasUnit ? SVGNumber.longestUnit : 1), isPercentage: false)
    }

    /// Takes from another pattern what this one doesn't say.
    mutating func inherit(_ other: SVGPattern) {
        width = width ?? other.width
        height = height ?? other.height
        isRelative = isRelative ?? other.isRelative
        scale = scale ?? other.scale
    }

    /// The most bytes of the tile.
    /// - Parameters:
    ///   - scale: the pixels of a unit of the drawing.
    ///   - canvas: the longest side of the canvas, in pixels, with the factors of transformations.
    ///   - shape: the longest side of a shape, in pixels.
    func bytes(scale: Double, canvas: Double, shape: Double) -> Double {
        func pixels(_ side: Side?) -> Double {
            guard let side else { return 0 }
            let unit = isRelative ?? true ? max(shape, canvas) : side.isPercentage ? canvas : scale
            return min(side.value * unit * (self.scale ?? 1), Self.longestSide)
        }
        return 4 * pixels(width) * pixels(height)
    }
}
#endif
