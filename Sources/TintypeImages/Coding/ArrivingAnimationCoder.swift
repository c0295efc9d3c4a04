package import FoundationEssentials

/// Reads the frames of animations whose bytes are still arriving.
package protocol ArrivingAnimationCoder: AnimatedImageCoder {
    /// Returns the header of an animation with only those frames whose bytes are all there. The last frame may be missing although its
    /// bytes are there.
    /// - Parameters:
    ///   - data: the start of the file.
    ///   - context: the limits and the check for cancellation.
    /// - Throws: ``ImageError/Code/truncatedImage`` if the header is incomplete: more bytes may help.
    func arrivedInfo(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo

    /// Returns a decoder for the frames that have arrived, which takes more bytes later.
    /// - Parameters:
    ///   - data: the start of the file, with the first frame.
    ///   - options: the options to decode with.
    ///   - context: the limits, the memory, and the check for cancellation.
    /// - Throws: the errors of ``AnimatedImageCoder``.
    func arrivingFrameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any ArrivingFrameDecoder
}

/// The frames of an animation whose bytes are still arriving. Used by a single thread at a time.
package protocol ArrivingFrameDecoder: FrameDecoder {
    /// Takes the bytes again, with more of them at the end. The place among the frames stays.
    /// - Parameter data: all bytes so far.
    /// - Throws: ``ImageError/Code/corruptImage`` if the bytes contradict earlier bytes.
    func extend(_ data: Data) throws(ImageError)
}

extension ImageCoders {
    /// Returns the coder that reads the frames of an animation while its bytes arrive; `nil` if the coder that would decode the whole
    /// animation can't.
    func arrivingCoder(for data: Data, hint: ImageFormat?) -> (any ArrivingAnimationCoder)? {
        // A decoder of another format, which a wrong hint would choose, fails at every frame.
        for format in Self.formats(of: data, hint: hint) {
            let coder = coders.last { $0 is any AnimatedImageCoder && $0.canDecode(data, format: format) }
            if let coder { return coder as? any ArrivingAnimationCoder }
        }
        return nil
    }
}
