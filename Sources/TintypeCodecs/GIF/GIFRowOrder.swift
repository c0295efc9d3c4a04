/// The order in which the rows of a frame are stored (GIF89a, appendix E).
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
}
