internal import TintypeImages

/// Finds at most 256 colors for a picture.
///
/// Pictures with few colors keep them exactly. Others are counted into 32,768 cells of 5 bits a component, and the cells
/// divided by median cut (Heckbert, "Color image quantization for frame buffer display", 1982): the box with the largest
/// spread is cut where half its pixels lie on each side.
package struct ColorQuantizer {
    /// Red, green and blue, three bytes each.
    package private(set) var palette: [SIMD3<UInt8>] = []
    private var exact: [UInt32: UInt8]?
    private var cells: [UInt8] = []

    /// - Parameters:
    ///   - pixels: straight RGBA; those that are not `isOpaque` do not count.
    ///   - maximum: from 2 to 256.
    package init(_ pixels: [UInt8], maximum: Int) {
        if let few = Self.fewColors(pixels, maximum: maximum) {
            palette = few.map { SIMD3(truncatingIfNeeded: SIMD3($0, $0 >> 8, $0 >> 16)) }
            exact = Dictionary(uniqueKeysWithValues: few.enumerated().map { ($1, UInt8($0)) })
        } else {
            cut(pixels, maximum: maximum)
        }
    }

    package static func isOpaque(_ alpha: UInt8) -> Bool { alpha >= 128 }

    /// True if every color of the picture is in the palette.
    package var isExact: Bool { exact != nil }

    /// The palette's index for each pixel of the picture; for a pixel that is not opaque, the index behind the last.
    package func indices(of pixels: [UInt8]) -> [UInt8] {
        let transparent = UInt8(truncatingIfNeeded: palette.count)
        return stride(from: 0, to: pixels.count, by: 4).map { place in
            Self.isOpaque(pixels[place + 3])
                ? index(red: pixels[place], green: pixels[place + 1], blue: pixels[place + 2]) : transparent
        }
    }

    /// The palette's index for a color of the picture.
    func index(red: UInt8, green: UInt8, blue: UInt8) -> UInt8 {
        if let exact { return exact[UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16] ?? 0 }
        return cells[Self.cell(red, green, blue)]
    }

    private static func cell(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> Int {
        Int(red >> 3) << 10 | Int(green >> 3) << 5 | Int(blue >> 3)
    }

    private static func fewColors(_ pixels: [UInt8], maximum: Int) -> [UInt32]? {
        var seen = Set<UInt32>()
        var order: [UInt32] = []
        var last: UInt32?
        for place in stride(from: 0, to: pixels.count, by: 4) where isOpaque(pixels[place + 3]) {
            let color = UInt32(pixels[place]) | UInt32(pixels[place + 1]) << 8 | UInt32(pixels[place + 2]) << 16
            guard color != last else { continue }
            last = color
            if seen.insert(color).inserted {
                guard order.count < maximum else { return nil }
                order.append(color)
            }
        }
        return order
    }

    // MARK: Median cut

    private struct Cell {
        var index: Int
        var count = 0
        var sum = SIMD3<Int>.zero
        /// The mean color, which decides cuts.
        var mean: SIMD3<Int> { sum / max(1, count) }
    }

    private struct Box {
        var cells: ArraySlice<Cell>
        var axis = 0
        /// The gain of a cut: the spread along the longest axis times the pixels.
        var gain = 0

        init(_ cells: ArraySlice<Cell>) {
            self.cells = cells
            var low = SIMD3<Int>(repeating: 255)
            var high = SIMD3<Int>.zero
            var count = 0
            for cell in cells {
                low.replace(with: cell.mean, where: cell.mean .< low)
                high.replace(with: cell.mean, where: cell.mean .> high)
                count += cell.count
            }
            let spread = high &- low
            axis = (0..<3).max { spread[$0] < spread[$1] } ?? 0
            gain = cells.count > 1 ? spread[axis] * count : 0
        }
    }

    private mutating func cut(_ pixels: [UInt8], maximum: Int) {
        var all = (0..<1 << 15).map { Cell(index: $0) }
        for place in stride(from: 0, to: pixels.count, by: 4) where Self.isOpaque(pixels[place + 3]) {
            let (red, green, blue) = (pixels[place], pixels[place + 1], pixels[place + 2])
            let cell = Self.cell(red, green, blue)
            all[cell].count += 1
            all[cell].sum &+= SIMD3(Int(red), Int(green), Int(blue))
        }
        var boxes = [Box(all.filter { $0.count > 0 }[...])]
        while boxes.count < maximum,
            let widest = boxes.indices.max(by: { boxes[$0].gain < boxes[$1].gain }), boxes[widest].gain > 0
        {
            let (left, right) = Self.halves(boxes[widest])
            boxes[widest] = left
            boxes.append(right)
        }
        cells = [UInt8](repeating: 0, count: 1 << 15)
        for (index, box) in boxes.enumerated() {
            let count = box.cells.reduce(0) { $0 + $1.count }
            let sum = box.cells.reduce(SIMD3<Int>.zero) { $0 &+ $1.sum }
            palette.append(SIMD3(truncatingIfNeeded: (sum &+ count / 2) / max(1, count)))
            for cell in box.cells { cells[cell.index] = UInt8(index) }
        }
    }

    private static func halves(_ box: Box) -> (Box, Box) {
        let sorted = box.cells.sorted { $0.mean[box.axis] < $1.mean[box.axis] }
        let half = sorted.reduce(0) { $0 + $1.count } / 2
        var count = 0
        var middle = 1
        for (index, cell) in sorted.dropLast().enumerated() {
            count += cell.count
            middle = index + 1
            if count >= half { break }
        }
        return (Box(sorted[..<middle]), Box(sorted[middle...]))
    }
}
