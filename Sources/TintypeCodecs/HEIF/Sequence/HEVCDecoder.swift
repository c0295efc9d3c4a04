#if HEIF
internal import FoundationEssentials
internal import TintypeImages

/// Decodes the pictures of a track with libde265, in display order. Used by a single thread at a time.
///
/// libde265 puts pictures into that order itself. Each sample carries its place in it, so that a picture which is missing is
/// noticed. A picture is taken out as soon as it is there: where nothing is held back for a later picture, the decoder is asked for it.
final class HEVCDecoder {
    private let track: HEVCTrack
    private let context: ProcessingContext
    private var stream: HEVCStream?
    /// The place, in the order of decoding, of the sample that comes next.
    private var nextSample = 0
    /// The place, in the order of showing, of the picture that is expected next.
    private var nextRank = 0
    /// The places, in display order, of pictures that have been decoded but not taken out.
    private var pending: Set<Int> = []
    /// A picture that the decoder keeps until it goes on.
    private var holdsPicture = false
    private var isFlushed = false

    init(_ track: HEVCTrack, context: ProcessingContext) {
        self.track = track
        self.context = context
    }

    /// A picture. The picture after the last costs a single decode; for another, decoding starts at a sync sample before.
    ///
    /// Its planes are valid until the next call.
    /// - Parameters:
    ///   - rank: its place in the order of showing.
    ///   - data: the file.
    /// - Throws: ``ImageError/Code/truncatedImage`` if the file ends before the picture's sample does.
    func picture(_ rank: Int, in data: Data) throws(ImageError) -> HEVCPicture {
        do throws(ImageError) {
            return try data.withBytes { bytes throws(ImageError) -> HEVCPicture in
                if stream == nil || rank != nextRank || isFlushed && !pending.contains(rank) { try seek(rank, bytes) }
                guard let stream else { throw Self.missing(rank) }
                return try advance(stream, to: rank, bytes)
            }
        } catch {
            // The decoder's present pictures are useless for another picture.
            stream = nil
            throw error
        }
    }

    /// Starts at the sync sample that a picture needs, unless that is behind and the picture still to come.
    private func seek(_ rank: Int, _ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        let start = try track.samples.decodingStart(forRank: rank) { sample throws(ImageError) in
            try context.checkCancellation()
            // Decoding fails at a sample that isn't there yet, wherever it starts.
            guard sample.bytes.upperBound <= bytes.count else { return true }
            return try track.configuration.standsAlone(UnsafeRawBufferPointer(rebasing: bytes[sample.bytes]))
        }
        guard stream == nil || isFlushed || rank < nextRank || start > nextSample else { return }
        // The old decoder's memory goes back before a new decoder takes any.
        stream = nil
        stream = try HEVCStream(track.configuration, pictures: track.pictures)
        (nextSample, nextRank, pending, holdsPicture, isFlushed) = (start, 0, [], false, false)
    }

    private func advance(
        _ stream: HEVCStream, to rank: Int, _ bytes: UnsafeRawBufferPointer
    ) throws(ImageError) -> HEVCPicture {
        if holdsPicture { stream.releaseNext() }
        holdsPicture = false
        while true {
            if let shown = stream.nextRank {
                pending.remove(shown)
                if shown == rank, let picture = try stream.next() {
                    (holdsPicture, nextRank) = (true, rank + 1)
                    return picture
                }
                // Pictures that are only decoded because others are made of them.
                stream.releaseNext()
                guard shown < rank else { throw Self.missing(rank) }
            } else {
                try context.checkCancellation()
                if nextSample < track.samples.count, track.samples.samples[nextSample].bytes.upperBound <= bytes.count {
                    try decodeSample(bytes, for: rank, with: stream)
                } else if !isFlushed, pending.contains(rank) {
                    isFlushed = true
                    try stream.flush()
                } else {
                    throw nextSample < track.samples.count ? Self.truncated(rank) : Self.missing(rank)
                }
            }
        }
    }

    /// - Parameter wanted: the place, in the order of showing, of the picture that is waited for.
    private func decodeSample(
        _ bytes: UnsafeRawBufferPointer, for wanted: Int, with stream: HEVCStream
    ) throws(ImageError) {
        let rank = track.samples.ranks[nextSample]
        let sample = UnsafeRawBufferPointer(rebasing: bytes[track.samples.samples[nextSample].bytes])
        try stream.decode(sample: sample, rank: rank)
        nextSample += 1
        pending.insert(rank)
        if pending.allSatisfy({ $0 <= wanted }) { try stream.release() }
    }

    // MARK: Errors

    private static func missing(_ rank: Int) -> ImageError {
        .corrupt("the HEIF file is damaged: frame \(rank + 1) of its sequence can't be decoded")
    }

    private static func truncated(_ rank: Int) -> ImageError {
        .truncated("the HEIF file ends before frame \(rank + 1) of its sequence")
    }
}
#endif
