#if HEIF
internal import CDE265
internal import FoundationEssentials
internal import TintypeCore

/// Decodes the pictures of a track with libde265, in the order in which they are shown. Used by one thread at a time.
///
/// libde265 puts pictures into that order itself. Each sample carries its place in it, so that a picture which is missing is
/// noticed. A picture is taken out as soon as it is there: where nothing is held back for a later one, the decoder is told
/// that a frame ends, and does not wait for the next one to begin.
final class HEVCDecoder {
    private let track: HEVCTrack
    private let context: DecodeContext
    private var decoder: UnsafeMutableRawPointer?
    /// The place, in the order of decoding, of the sample that comes next.
    private var nextSample = 0
    /// The place, in the order of showing, of the picture that is expected next.
    private var nextRank = 0
    /// The places, in the order of showing, of what has been decoded and not come out.
    private var pending: Set<Int> = []
    /// A picture that the decoder keeps until it goes on.
    private var holdsPicture = false
    private var isFlushed = false

    init(_ track: HEVCTrack, context: DecodeContext) {
        self.track = track
        self.context = context
    }

    deinit { close() }

    private func close() {
        if let decoder { de265_free_decoder(decoder) }
        decoder = nil
    }

    /// One picture. Those after the last one come at the price of one; for another, decoding begins at a sync sample before.
    ///
    /// Its planes are valid until the next call.
    /// - Parameters:
    ///   - rank: its place in the order of showing.
    ///   - data: the file.
    /// - Throws: ``ImageError/Code/truncatedImage`` if the file ends before the picture's sample does.
    func picture(_ rank: Int, in data: Data) throws(ImageError) -> HEVCPicture {
        do throws(ImageError) {
            if decoder == nil || rank != nextRank || isFlushed && !pending.contains(rank) { try seek(rank) }
            return try data.withBytes { bytes throws(ImageError) in try advance(to: rank, bytes) }
        } catch {
            // What is in the decoder now is of no use for another picture.
            close()
            throw error
        }
    }

    /// Begins at the sync sample that a picture needs, unless that is behind and the picture still to come.
    private func seek(_ rank: Int) throws(ImageError) {
        let start = track.samples.decodingStart(forRank: rank)
        guard decoder == nil || isFlushed || rank < nextRank || start > nextSample else { return }
        try open(at: start)
    }

    private func open(at sample: Int) throws(ImageError) {
        close()
        guard let created = de265_new_decoder() else { throw Self.outOfMemory }
        decoder = created
        // No worker threads: parallel work comes from the pool that decodes several images at once.
        de265_set_parameter_bool(created, DE265_DECODER_PARAM_SUPPRESS_FAULTY_PICTURES, 1)
        (nextSample, nextRank, pending, holdsPicture, isFlushed) = (sample, 0, [], false, false)
        for set in track.configuration.parameterSets {
            try set.withBytes { unit throws(ImageError) in try push(unit, rank: 0) }
        }
    }

    private func advance(to rank: Int, _ bytes: UnsafeRawBufferPointer) throws(ImageError) -> HEVCPicture {
        guard let decoder else { throw Self.outOfMemory }
        if holdsPicture { de265_release_next_picture(decoder) }
        holdsPicture = false
        while true {
            if let image = de265_peek_next_picture(decoder) {
                let shown = Int(de265_get_image_PTS(image))
                pending.remove(shown)
                if shown == rank {
                    (holdsPicture, nextRank) = (true, rank + 1)
                    return try HEVCPicture(image, parameters: track.pictures)
                }
                // Pictures that are only decoded because others are made of them.
                de265_release_next_picture(decoder)
                guard shown < rank else { throw Self.missing(rank) }
            } else if try !work(decoder) {
                try context.checkCancellation()
                if nextSample < track.samples.count, track.samples.samples[nextSample].bytes.upperBound <= bytes.count {
                    try pushSample(bytes, for: rank, decoder)
                } else if !isFlushed, pending.contains(rank) {
                    isFlushed = true
                    de265_flush_data(decoder)
                } else {
                    throw nextSample < track.samples.count ? Self.truncated(rank) : Self.missing(rank)
                }
            }
        }
    }

    /// Decodes something; `false` if there is nothing left to decode.
    private func work(_ decoder: UnsafeMutableRawPointer) throws(ImageError) -> Bool {
        var more: Int32 = 0
        let error = de265_decode(decoder, &more)
        switch error {
        case DE265_OK: return more != 0
        case DE265_ERROR_WAITING_FOR_INPUT_DATA: return false
        case DE265_ERROR_OUT_OF_MEMORY: throw Self.outOfMemory
        default: throw Self.damaged(error)
        }
    }

    /// - Parameter wanted: the place, in the order of showing, of the picture that is waited for.
    private func pushSample(
        _ bytes: UnsafeRawBufferPointer, for wanted: Int, _ decoder: UnsafeMutableRawPointer
    ) throws(ImageError) {
        let rank = track.samples.ranks[nextSample]
        let sample = UnsafeRawBufferPointer(rebasing: bytes[track.samples.samples[nextSample].bytes])
        try track.configuration.forEachUnit(of: sample) { unit throws(ImageError) in try push(unit, rank: rank) }
        nextSample += 1
        pending.insert(rank)
        if pending.allSatisfy({ $0 <= wanted }) { de265_push_end_of_frame(decoder) }
    }

    private func push(_ unit: UnsafeRawBufferPointer, rank: Int) throws(ImageError) {
        // libde265 knows no layers but the first, and what has no header is filling.
        guard let decoder, let header = HEVCUnit(unit), header.layer == 0 else { return }
        if let parameters = try HEVCPictureParameters(unit: unit), parameters != track.pictures {
            throw .corrupt("the frames of the HEIF file change from \(track.pictures.size) to \(parameters.size)")
        }
        let error = de265_push_NAL(
            decoder, unit.baseAddress, Int32(clamping: unit.count), de265_PTS(rank), nil)
        guard error == DE265_OK else {
            throw error == DE265_ERROR_OUT_OF_MEMORY ? Self.outOfMemory : Self.damaged(error)
        }
    }

    // MARK: Errors

    private static let outOfMemory = ImageError(
        .outOfMemory, stage: .decode, reason: "libde265 has no memory for the image")

    private static func damaged(_ error: de265_error) -> ImageError {
        .corrupt("the HEIF file is damaged (libde265: \(String(cString: de265_get_error_text(error))))")
    }

    private static func missing(_ rank: Int) -> ImageError {
        .corrupt("the HEIF file is damaged: frame \(rank + 1) of its sequence cannot be decoded")
    }

    private static func truncated(_ rank: Int) -> ImageError {
        .truncated("the HEIF file ends before frame \(rank + 1) of its sequence")
    }
}
#endif
