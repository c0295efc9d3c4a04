/// The part of a resampled picture that is made, so that the rest costs nothing.
struct ResampledPart: Equatable {
    var columns: Range<Int>
    var rows: Range<Int>

    init(columns: Range<Int>, rows: Range<Int>) {
        self.columns = columns
        self.rows = rows
    }

    /// All of a size.
    init(_ size: PixelSize) { self.init(columns: 0..<max(0, size.width), rows: 0..<max(0, size.height)) }

    var size: PixelSize { PixelSize(width: columns.count, height: rows.count) }
}
