internal import TintypeImages

/// The filters with which HEVC smooths the edges between blocks, a fifth of the time of a decode.
enum LoopFilters {
    /// True if a picture is made so small that nobody can see whether they were applied.
    static func areInvisible(in size: PixelSize, at output: PixelSize) -> Bool {
        size.width >= 7 * output.width && size.height >= 7 * output.height
    }
}
