internal import TintypeImages

extension PixelRect {
    init(x: Int = 0, y: Int = 0, size: PixelSize) { self.init(x: x, y: y, width: size.width, height: size.height) }

    var maxX: Int { x + width }
    var maxY: Int { y + height }

    func covers(_ canvas: PixelSize) -> Bool { x <= 0 && y <= 0 && maxX >= canvas.width && maxY >= canvas.height }

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
