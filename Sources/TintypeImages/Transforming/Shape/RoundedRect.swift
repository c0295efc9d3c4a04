/// A rectangle with rounded corners, and the part of each pixel that it covers.
struct RoundedRect {
    /// The edges.
    private let left: Double
    private let top: Double
    private let right: Double
    private let bottom: Double
    private let radius: Double
    private let corners: ImageCorners

    /// The number of lines per pixel that the coverage of a curve is calculated on exactly.
    private static let lines = 16

    /// Creates a rectangle inside an image.
    /// - Parameters:
    ///   - size: the size of the image.
    ///   - inset: the distance from the edges of the image.
    ///   - radius: the radius of the corners, limited to half the shorter side of the rectangle.
    ///   - corners: the corners that are round.
    init(_ size: PixelSize, inset: Double = 0, radius: Double, corners: ImageCorners) {
        left = inset
        top = inset
        right = Double(size.width) - inset
        bottom = Double(size.height) - inset
        self.radius = max(0, min(radius, (right - left) / 2, (bottom - top) / 2))
        self.corners = corners
    }

    private var isEmpty: Bool { right <= left || bottom <= top }

    /// Returns true for a row with no part of a corner.
    func isStraight(_ y: Int) -> Bool { Double(y) >= top + radius && Double(y + 1) <= bottom - radius }

    /// Calculates the covered part of each pixel of a row, from 0 to 1.
    func coverage(of row: UnsafeMutablePointer<Float>, y: Int, width: Int) {
        row.initialize(repeating: 0, count: width)
        guard !isEmpty else { return }
        let upper = max(Double(y), top)
        let lower = min(Double(y + 1), bottom)
        guard lower > upper else { return }
        let isStraight = upper >= top + radius && lower <= bottom - radius
        let lines = isStraight ? 1 : Self.lines
        let height = (lower - upper) / Double(lines)
        for line in 0..<lines {
            let center = upper + (Double(line) + 0.5) * height
            let (from, to) = span(at: center)
            Self.add(from: from, to: to, weight: Float(height), to: row, width: width)
        }
    }

    /// Returns the ends of the rectangle on a horizontal line.
    private func span(at y: Double) -> (from: Double, to: Double) {
        let isTop = y < top + radius
        guard isTop || y > bottom - radius else { return (left, right) }
        let distance = isTop ? top + radius - y : y - (bottom - radius)
        let indent = radius - max(0, radius * radius - distance * distance).squareRoot()
        return (
            corners.contains(isTop ? .topLeft : .bottomLeft) ? left + indent : left,
            corners.contains(isTop ? .topRight : .bottomRight) ? right - indent : right
        )
    }

    private static func add(
        from: Double, to: Double, weight: Float, to row: UnsafeMutablePointer<Float>, width: Int
    ) {
        guard to > from else { return }
        let first = min(width - 1, Int(from))
        let last = min(width - 1, Int(to))
        guard first < last else {
            row[first] += Float(to - from) * weight
            return
        }
        row[first] += Float(Double(first + 1) - from) * weight
        for x in first + 1..<max(last, first + 1) { row[x] += weight }
        row[last] += Float(min(1, to - Double(last))) * weight
    }
}
