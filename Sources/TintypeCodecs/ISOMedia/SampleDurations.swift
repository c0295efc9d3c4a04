#if AVIF || HEIF
internal import TintypeImages

/// The durations of a track's samples, in the order of decoding and units of the track (ISO/IEC 14496-12, section 8.6.1.2).
enum SampleDurations {
    /// Reads the runs of `stts`. The last run holds for all samples behind it.
    /// - Parameters:
    ///   - table: an `stbl` box.
    ///   - count: the number of samples.
    /// - Complexity: O(runs + samples)
    static func read(_ table: MediaBox, count: Int) throws(ImageError) -> [Int] {
        var reader = try table.box("stts").reader
        _ = try reader.fullBox()
        var durations: [Int] = []
        var runs = try reader.uint32()
        while runs > 0, durations.count < count {
            let length = try reader.uint32()
            let duration = try reader.uint32()
            runs -= 1
            let room = count - durations.count
            durations += repeatElement(duration, count: runs == 0 ? room : min(length, room))
        }
        return durations
    }
}
#endif
