#if HEIF
internal import CDE265
internal import FoundationEssentials
internal import TintypeImages

/// A libde265 decoder: NAL units go in, and pictures come out. Used by a single thread at a time.
final class HEVCStream {
    private let decoder: UnsafeMutableRawPointer
    private let configuration: HEVCConfiguration
    private let pictures: HEVCPictureParameters
    private let memory: HEVCPlaneMemory
    private let skipsLoopFilters: Bool

    /// - Parameters:
    ///   - configuration: The parameter sets to start with.
    ///   - pictures: The size and depth of the pictures. Parameter sets that state others are refused, because the decoder would take
    ///     memory for them.
    ///   - skipsLoopFilters: True for pictures that are made much smaller, in which the edges of blocks can't be seen.
    init(
        _ configuration: HEVCConfiguration, pictures: HEVCPictureParameters, skipsLoopFilters: Bool = false
    ) throws(ImageError) {
        guard let created = de265_new_decoder() else { throw Self.outOfMemory }
        decoder = created
        self.configuration = configuration
        self.pictures = pictures
        self.skipsLoopFilters = skipsLoopFilters
        memory = HEVCPlaneMemory(pictures)
        memory.provide(for: decoder)
        // No worker threads: parallel work comes from the pool that decodes several images at once.
        de265_set_parameter_bool(decoder, DE265_DECODER_PARAM_SUPPRESS_FAULTY_PICTURES, 1)
        de265_set_parameter_bool(decoder, DE265_DECODER_PARAM_DISABLE_SAO, 1)
        de265_set_parameter_bool(decoder, DE265_DECODER_PARAM_DISABLE_DEBLOCKING, skipsLoopFilters ? 1 : 0)
        for set in configuration.parameterSets {
            try set.withBytes { unit throws(ImageError) in try push(unit, rank: 0) }
        }
    }

    deinit { withExtendedLifetime(memory) { _ = de265_free_decoder(decoder) } }

    /// Decodes the coded picture in a sample.
    ///
    /// Its memory comes from ``HEVCPlaneMemory``: libde265 takes memory of its own, which it doesn't clear, for pictures that it will apply
    /// sample-adaptive offset to. It decides so when a picture starts, and filters a picture when it ends. So offset is only allowed
    /// between the last slice and the end.
    /// - Parameter rank: A number that comes out with the picture.
    func decode(sample: UnsafeRawBufferPointer, rank: Int) throws(ImageError) {
        try configuration.forEachUnit(of: sample) { unit throws(ImageError) in try push(unit, rank: rank) }
        while try work() {}
        de265_set_parameter_bool(decoder, DE265_DECODER_PARAM_DISABLE_SAO, skipsLoopFilters ? 1 : 0)
        de265_push_end_of_frame(decoder)
        // Once: a further call would give out pictures that others are to be shown before.
        _ = try work()
        de265_set_parameter_bool(decoder, DE265_DECODER_PARAM_DISABLE_SAO, 1)
    }

    private func push(_ unit: UnsafeRawBufferPointer, rank: Int) throws(ImageError) {
        // libde265 only knows the first layer. Units without a header are padding.
        guard let header = HEVCUnit(unit), header.layer == 0 else { return }
        if let parameters = try HEVCPictureParameters(unit: unit), parameters != pictures {
            throw .corrupt("the frames of the HEIF file change from \(pictures.size) to \(parameters.size)")
        }
        let error = de265_push_NAL(decoder, unit.baseAddress, Int32(clamping: unit.count), de265_PTS(rank), nil)
        guard error == DE265_OK else {
            throw error == DE265_ERROR_OUT_OF_MEMORY ? Self.outOfMemory : Self.damaged(error)
        }
    }

    /// Gives out the pictures that have been decoded: none that comes later is shown before them.
    func release() throws(ImageError) { _ = try work() }

    /// Tells the decoder that no more units follow, and gives out all pictures.
    func flush() throws(ImageError) {
        de265_flush_data(decoder)
        _ = try work()
    }

    /// Decodes a part of the pushed bytes.
    /// - Returns: `false` if nothing is left to decode.
    private func work() throws(ImageError) -> Bool {
        var more: Int32 = 0
        let error = de265_decode(decoder, &more)
        switch error {
        case DE265_OK: return more != 0
        case DE265_ERROR_WAITING_FOR_INPUT_DATA: return false
        case DE265_ERROR_OUT_OF_MEMORY: throw Self.outOfMemory
        default: throw Self.damaged(error)
        }
    }

    /// The number that was pushed with the next picture; `nil` if none is complete.
    var nextRank: Int? { de265_peek_next_picture(decoder).map { Int(de265_get_image_PTS($0)) } }

    /// Returns the next picture, which the decoder keeps until ``releaseNext()``; `nil` if none is complete.
    func next() throws(ImageError) -> HEVCPicture? {
        guard let image = de265_peek_next_picture(decoder) else { return nil }
        guard memory.isComplete(image) else {
            throw .corrupt("the HEIF file is damaged: a part of its picture is missing")
        }
        return try HEVCPicture(image, parameters: pictures)
    }

    /// Discards the next picture.
    func releaseNext() { de265_release_next_picture(decoder) }

    private static let outOfMemory = ImageError(
        .outOfMemory, stage: .decode, reason: "libde265 couldn't allocate memory for the image")

    private static func damaged(_ error: de265_error) -> ImageError {
        .corrupt("the HEIF file is damaged (libde265: \(String(cString: de265_get_error_text(error))))")
    }
}
#endif
