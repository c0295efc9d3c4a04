/// The storage order of a frame's rows (GIF89a, appendix E).
struct GIFRowOrder {
    private let height: Int
    private let isInterlaced: Bool

    init(height: Int, isInterlaced: Bool) {
        self.height = height
        self.isInterlaced = isInterlaced
    }

    /// The place in the picture of the row that is stored as the `index`th.
    func row(_ index: Int) -> Int {
        guard isInterlaced else { return index }
        var rest = index
        for (first, step) in [(0, 8), (4, 8), (2, 4), (1, 2)] as [(Int, Int)] {
            let rows = first < height ? (height - first + step - 1) / step : 0
            if rest < rows { return first + rest * step }
            rest -= rows
        }
        return height - 1
    }

    /// The stored row to show at a place in the picture as long as only the first `available` are there: its own, or of an
    /// interlaced frame the row above that stands for it; `nil` if that has not come either.
    func stored(for row: Int, available: Int) -> Int? {
        guard isInterlaced else { return row < available ? row : nil }
        for step in [1, 2, 4, 8] {
            let place = index(of: row - row % step)
            if place < available { return place }
        }
        return nil
    }

    /// The storage position of a row of an interlaced picture.
    private func index(of row: Int) -> Int {
        let eighths = (height + 7) / 8
        let fourths = (height + 3) / 4
        let halves = (height + 1) / 2
        if row % 8 == 0 { return row / 8 }
        if row % 4 == 0 { return eighths + row / 8 }
        if row % 2 == 0 { return fourths + row / 4 }
        return halves + row / 2
    }
}
