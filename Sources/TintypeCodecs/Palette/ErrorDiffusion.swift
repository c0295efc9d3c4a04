/// Draws a picture with the colors of a palette so that the error of each pixel is made good by its neighbors (Floyd and
/// Steinberg, 1976), rows in turns from the left and from the right, which leaves no worms.
package struct ErrorDiffusion {
    private let palette: [SIMD3<Int32>]
    /// The nearest colors of those that were asked for, by their upper 5 bits: of a picture's 16 million colors few are met.
    private var nearest = [Int16](repeating: -1, count: 1 << 15)

    package init(palette: [SIMD3<UInt8>]) { self.palette = palette.map { SIMD3(truncatingIfNeeded: $0) } }

    /// - Parameter pixels: straight RGBA, rows without gaps; those that are not opaque get the index behind the last color, and
    ///   neither take errors nor give any.
    /// - Complexity: O(pixels), and O(colors) for each of at most 32,768 cells of colors.
    package func indices(of pixels: [UInt8], width: Int) -> [UInt8] {
        var work = self
        return work.draw(pixels, width: width)
    }

    private mutating func draw(_ pixels: [UInt8], width: Int) -> [UInt8] {
        let height = pixels.count / 4 / max(1, width)
        var indices = [UInt8](repeating: UInt8(truncatingIfNeeded: palette.count), count: width * height)
        // Errors in sixteenths, with a column to spare on both sides.
        var here = [SIMD3<Int32>](repeating: .zero, count: width + 2)
        var below = here
        for y in 0..<height {
            let step = y % 2 == 0 ? 1 : -1
            var x = step > 0 ? 0 : width - 1
            for _ in 0..<width {
                let place = (y * width + x) * 4
                if ColorQuantizer.isOpaque(pixels[place + 3]) {
                    let color = SIMD3<Int32>(Int32(pixels[place]), Int32(pixels[place + 1]), Int32(pixels[place + 2]))
                    let wanted = (color &+ ((here[x + 1] &+ 8) &>> 4)).clamped(
                        lowerBound: .zero, upperBound: .init(repeating: 255))
                    let index = nearestColor(to: wanted)
                    indices[y * width + x] = UInt8(truncatingIfNeeded: index)
                    let error = wanted &- palette[index]
                    here[x + 1 + step] &+= error &* 7
                    below[x + 1 - step] &+= error &* 3
                    below[x + 1] &+= error &* 5
                    below[x + 1 + step] &+= error
                }
                x += step
            }
            swap(&here, &below)
            for place in below.indices { below[place] = .zero }
        }
        return indices
    }

    private mutating func nearestColor(to color: SIMD3<Int32>) -> Int {
        let cell = Int(color.x &>> 3) << 10 | Int(color.y &>> 3) << 5 | Int(color.z &>> 3)
        if nearest[cell] >= 0 { return Int(nearest[cell]) }
        // One color stands for the cell: its 5 bits as 8, so that black and white stand for theirs.
        let shown: SIMD3<Int32> = (color & SIMD3(repeating: ~7)) | (color &>> 5)
        var best = (index: 0, distance: Int32.max)
        for (index, entry) in palette.enumerated() {
            let difference = entry &- shown
            let distance = (difference &* difference).wrappedSum()
            if distance < best.distance { best = (index, distance) }
        }
        nearest[cell] = Int16(best.index)
        return best.index
    }
}
