#if HEIF
import Foundation

/// Puts pictures of a test's encoder into a HEIF file.
enum HEIFTestSequence {
    static func track(
        _ pictures: HEVCTestEncoder.Output, duration: Int = 40, _ change: (inout TestMovie.Track) -> Void = { _ in }
    ) -> TestMovie.Track {
        var track = TestMovie.Track()
        track.codingBoxes = configuration(pictures.sets)
        track.samples = pictures.samples.map(\.data)
        track.delays = pictures.samples.map { _ in duration }
        track.offsets = pictures.samples.enumerated().map { ($1.rank - $0) * duration }
        if track.offsets.allSatisfy({ $0 == 0 }) { track.offsets = [] }
        track.syncSamples = pictures.samples.indices.filter { pictures.samples[$0].isSync }.map { $0 + 1 }
        change(&track)
        return track
    }

    /// The box `hvcC`.
    static func configuration(_ sets: [Data], lengthBytes: Int = 4) -> Data {
        var contents = Data([1]) + Data(count: 20) + Data([UInt8(0xFC | lengthBytes - 1), UInt8(sets.count)])
        for set in sets {
            contents += Data([0x80 | (set.first ?? 0) >> 1 & 63]) + TestMovie.number(1, bytes: 2)
            contents += TestMovie.number(set.count, bytes: 2) + set
        }
        return TestMovie.box("hvcC", contents)
    }

    /// The box `colr` with code points.
    static func color(primaries: Int, transfer: Int, matrix: Int, isFullRange: Bool) -> Data {
        let points = [primaries, transfer, matrix].reduce(into: Data("nclx".utf8)) {
            $0 += TestMovie.number($1, bytes: 2)
        }
        return TestMovie.box("colr", points + Data([isFullRange ? 0x80 : 0]))
    }

    /// The box `auxi`, which says that a track is transparency.
    static let alphaType = TestMovie.box(
        "auxi", Data(count: 4) + Data("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0".utf8))
}
#endif
