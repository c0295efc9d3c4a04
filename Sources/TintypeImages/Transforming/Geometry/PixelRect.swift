/// A rectangle in pixels. Its origin is the upper left corner of an image.
public struct PixelRect: Sendable, Hashable, CustomStringConvertible {
    /// The first column.
    public var x: Int
    /// The first row.
    public var y: Int
    /// The number of columns.
    public var width: Int
    /// The number of rows.
    public var height: Int

    /// Creates a rectangle. Each parameter sets the property of the same name.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// Creates the bounds of an image.
    /// - Parameter size: the size of the image.
    package init(_ size: PixelSize) { self.init(x: 0, y: 0, width: size.width, height: size.height) }

    /// The width and the height.
    public var size: PixelSize { PixelSize(width: width, height: height) }

    /// True if a side is zero or negative.
    package var isEmpty: Bool { size.isEmpty }

    /// The size and the position, such as `400x300+10+20`.
    public var description: String { "\(width)x\(height)+\(x)+\(y)" }

    /// Returns the part that lies inside the bounds of an image; `nil` if there is none.
    /// - Parameter bounds: the size of the image.
    package func clipped(to bounds: PixelSize) -> PixelRect? {
        guard !isEmpty else { return nil }
        let (right, overflowsRight) = x.addingReportingOverflow(width)
        let (bottom, overflowsBottom) = y.addingReportingOverflow(height)
        let left = max(0, x)
        let top = max(0, y)
        let clippedRight = min(overflowsRight ? .max : right, bounds.width)
        let clippedBottom = min(overflowsBottom ? .max : bottom, bounds.height)
        guard left < clippedRight, top < clippedBottom else { return nil }
        return PixelRect(x: left, y: top, width: clippedRight - left, height: clippedBottom - top)
    }
}
