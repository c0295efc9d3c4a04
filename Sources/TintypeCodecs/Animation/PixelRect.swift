internal import TintypeCore

/// A part of a canvas: what one frame of an animation covers.
struct PixelRect: Equatable, Sendable {
    var x: Int
    var y: Int
    var size: PixelSize

    init(x: Int = 0, y: Int = 0, size: PixelSize) {
        self.x = x
        self.y = y
        self.size = size
    }

    var maxX: Int { x + size.width }
    var maxY: Int { y + size.height }

    /// The part that lies on a canvas; `nil` if nothing does.
    func clipped(to canvas: PixelSize) -> PixelRect? {
        let left = max(0, x)
        let top = max(0, y)
        let clipped = PixelSize(width: min(maxX, canvas.width) - left, height: min(maxY, canvas.height) - top)
        return clipped.isEmpty ? nil : PixelRect(x: left, y: top, size: clipped)
    }

    func covers(_ canvas: PixelSize) -> Bool { x <= 0 && y <= 0 && maxX >= canvas.width && maxY >= canvas.height }
}
