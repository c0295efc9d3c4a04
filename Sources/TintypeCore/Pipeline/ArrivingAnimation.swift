internal import FoundationEssentials

/// The animation of a load whose bytes are arriving, for the players of its previews. Used by one thread at a time.
struct ArrivingAnimation {
    private let options: DecodeOptions
    private let coder: EntryCoder
    private let context: DecodeContext
    /// The animation, once two of its frames are there. It grows from then on.
    private(set) var image: AnimatedImage?
    /// True if the bytes can't become one.
    private var hasFailed = false

    /// - Parameter context: the context in which the first frame is decoded.
    init(_ coder: EntryCoder, options: DecodeOptions, context: DecodeContext) {
        (self.coder, self.options, self.context) = (coder, options, context)
    }

    /// Takes all bytes that have arrived so far.
    /// - Returns: true if there is an animation now, and was none before.
    mutating func extend(_ data: Data) -> Bool {
        if let image {
            image.extend(data, context: context)
            return false
        }
        guard !hasFailed, !data.isEmpty else { return false }
        do throws(ImageError) {
            image = try AnimatedImage(arriving: data, options: options, coder, context: context)
        } catch {
            hasFailed = ![.truncatedImage, .overBudget, .cancelled].contains(error.code)
        }
        return image != nil
    }

    /// Takes the end of the load: all bytes, or the reason for which they didn't come.
    func end(_ result: Result<Data, ImageError>) {
        switch result {
        case .success(let data): image?.finish(data, context: context)
        case .failure(let error): image?.interrupt(error)
        }
    }
}
