import Tintype

/// The brightness of an image on a grid, to tell whether two images show the same.
struct ImageOutline {
    private static let side = 12
    /// Without their mean, and of length 1.
    private let values: [Double]

    init(_ image: Image) throws {
        let side = Self.side
        let small = try image.resized(to: PixelSize(width: side, height: side))
        var values: [Double] = []
        for y in 0..<side {
            for x in 0..<side {
                let color = small.color(x: x, y: y) ?? PixelColor(red: 0, green: 0, blue: 0)
                values.append(Double(0.2126 * color.red + 0.7152 * color.green + 0.0722 * color.blue))
            }
        }
        let mean = values.reduce(0, +) / Double(values.count)
        let centered = values.map { $0 - mean }
        let length = max(1e-9, centered.reduce(0) { $0 + $1 * $1 }.squareRoot())
        self.values = centered.map { $0 / length }
    }

    /// Returns true for the same picture in another size, crop by a few pixels, quality, or orientation.
    func isNear(_ other: ImageOutline) -> Bool {
        let side = Self.side
        for orientation in 0..<8 {
            var product = 0.0
            for y in 0..<side {
                for x in 0..<side {
                    let (a, b) = orientation & 4 == 0 ? (x, y) : (y, x)
                    let column = orientation & 1 == 0 ? a : side - 1 - a
                    let row = orientation & 2 == 0 ? b : side - 1 - b
                    product += values[y * side + x] * other.values[row * side + column]
                }
            }
            if product > 0.95 { return true }
        }
        return false
    }
}
