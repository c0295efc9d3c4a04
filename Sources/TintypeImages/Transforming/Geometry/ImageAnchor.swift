/// A point of an image, relative to its size: 0, 0 is the upper left corner, and 1, 1 the lower right corner.
public struct ImageAnchor: Sendable, Hashable {
    /// The horizontal position, from 0 on the left to 1 on the right.
    public var x: Double
    /// The vertical position, from 0 at the top to 1 at the bottom.
    public var y: Double

    /// Creates an anchor. Each parameter sets the property of the same name.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// The upper left corner.
    public static let topLeft = ImageAnchor(x: 0, y: 0)
    /// The middle of the upper side.
    public static let top = ImageAnchor(x: 0.5, y: 0)
    /// The upper right corner.
    public static let topRight = ImageAnchor(x: 1, y: 0)
    /// The middle of the left side.
    public static let left = ImageAnchor(x: 0, y: 0.5)
    /// The center.
    public static let center = ImageAnchor(x: 0.5, y: 0.5)
    /// The middle of the right side.
    public static let right = ImageAnchor(x: 1, y: 0.5)
    /// The lower left corner.
    public static let bottomLeft = ImageAnchor(x: 0, y: 1)
    /// The middle of the lower side.
    public static let bottom = ImageAnchor(x: 0.5, y: 1)
    /// The lower right corner.
    public static let bottomRight = ImageAnchor(x: 1, y: 1)

    /// The canonical spelling in keys.
    var keyPart: String { "\(TransformKey.number(x)):\(TransformKey.number(y))" }

    /// Returns the upper left corner of an area whose anchor lies on the same anchor of a canvas. The area may be larger.
    func origin(of area: PixelSize, in canvas: PixelSize) -> (x: Int, y: Int) {
        (
            Int((Double(canvas.width - area.width) * x).rounded()),
            Int((Double(canvas.height - area.height) * y).rounded())
        )
    }

    func check(_ parameter: String, _ check: ParameterCheck) throws(ImageError) {
        try check.check("\(parameter).x", x, in: 0...1)
        try check.check("\(parameter).y", y, in: 0...1)
    }
}

/// The position of a crop in the image.
public enum CropPosition: Sendable, Hashable {
    /// Aligns a point of the crop with the same point of the image: `.anchor(.top)` keeps the upper part.
    case anchor(ImageAnchor)
    /// Centers the crop on a point of the image, as far as the edges permit.
    case focus(ImageAnchor)
    /// Keeps the part with the most detail and color; see `crop(width:height:position:)`. Not for animations, because each frame would be
    /// cropped differently.
    case smart

    /// The canonical spelling in keys.
    var keyPart: String {
        switch self {
        case .anchor(let anchor): anchor.keyPart
        case .focus(let point): "focus:\(point.keyPart)"
        case .smart: "smart"
        }
    }

    func check(_ check: ParameterCheck) throws(ImageError) {
        switch self {
        case .anchor(let anchor): try anchor.check("position", check)
        case .focus(let point): try point.check("position", check)
        case .smart: break
        }
    }

    /// Returns the part of a canvas with a size, which is at most the canvas's size.
    /// - Parameters:
    ///   - size: the size of the part.
    ///   - canvas: the displayed size of the pixels.
    ///   - pixels: the pixels that the canvas shows.
    func part(
        _ size: PixelSize, of canvas: PixelSize, showing pixels: PixelBuffer, _ context: ProcessingContext
    ) throws(ImageError) -> PixelRect {
        var origin: (x: Int, y: Int)
        switch self {
        case .anchor(let anchor): origin = anchor.origin(of: size, in: canvas)
        case .focus(let point):
            origin = (
                Int((point.x * Double(canvas.width) - Double(size.width) / 2).rounded()),
                Int((point.y * Double(canvas.height) - Double(size.height) / 2).rounded())
            )
        case .smart: origin = try SaliencyMap(pixels, context).bestOrigin(of: size, in: canvas)
        }
        origin.x = min(max(0, origin.x), canvas.width - size.width)
        origin.y = min(max(0, origin.y), canvas.height - size.height)
        return PixelRect(x: origin.x, y: origin.y, width: size.width, height: size.height)
    }
}
