internal import TintypeImages

/// A part of a canvas: the area that a frame of an animation covers.
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

extension PixelRect {
    /// The smallest part that contains all differences of two pictures of the same size; a single pixel if they do not differ.
    init(covering pixels: PixelBuffer, differingFrom other: PixelBuffer) {
        var rows: ClosedRange<Int>?
        var left = pixels.width
        var right = -1
        for y in 0..<pixels.height {
            pixels.withRow(y) { new in
                other.withRow(y) { old in
                    let new = new.bindMemory(to: UInt32.self)
                    let old = old.bindMemory(to: UInt32.self)
                    guard let first = new.indices.first(where: { new[$0] != old[$0] }),
                        let last = new.indices.last(where: { new[$0] != old[$0] })
                    else { return }
                    left = min(left, first)
                    right = max(right, last)
                    rows = (rows?.lowerBound ?? y)...y
                }
            }
        }
        guard let rows else {
            self.init(size: PixelSize(width: 1, height: 1))
            return
        }
        self.init(x: left, y: rows.lowerBound, size: PixelSize(width: right - left + 1, height: rows.count))
    }
}
