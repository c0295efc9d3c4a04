#if SVG
/// The properties of one element on which the cost of drawing depends.
struct SVGElement {
    /// The place behind the last element within this one; 0 for an element that has no end.
    var end = 0
    var cost = SVGCost(elements: 1)
    /// The number of elements around this one, and itself, that need a layer.
    var layerDepth = 0
    /// The factor of the transformations of the elements around this one, and of its own.
    var scale = 1.0
    /// The number of layers of the drawings that this element shows as images.
    var drawingDepth = 0
    var painting = SVGPainting()
}

/// The cost of drawing elements, apart from the size of the picture.
struct SVGCost {
    /// The number of elements that are drawn.
    var elements = 0.0
    var vertices = 0.0
    /// The number of characters of text.
    var characters = 0.0
    /// The length of all lines, in units of the drawing.
    var length = 0.0
    /// The number of pictures of the size of the canvas that are drawn beside it and laid over it.
    var layers = 0.0
    /// The number of operations that filters take for each pixel.
    var filters = 0.0
    /// The sum of the areas of kernels that grow with the size of the picture, in units of the drawing.
    var kernels = 0.0
    /// The number of operations for each pixel of the canvas with which shapes, images and text are painted.
    var painting = 0.0

    static func += (cost: inout SVGCost, other: SVGCost) { cost.add(other, times: 1) }

    mutating func add(_ other: SVGCost, times count: Double) {
        elements += count * other.elements
        vertices += count * other.vertices
        characters += count * other.characters
        length += count * other.length
        layers += count * other.layers
        filters += count * other.filters
        kernels += count * other.kernels
        painting += count * other.painting
    }
}
#endif
