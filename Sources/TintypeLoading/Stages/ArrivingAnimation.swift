internal import FoundationEssentials

/// The animation of a load whose bytes are arriving, for the players of its previews. Used by a single thread at a time.
struct ArrivingAnimation {
    private let options: DecodeOptions
    private let coder: EntryCoder
    private let context: ProcessingContext
    /// The animation, once two of its frames are there. It grows from then on.
    private(set) var image: AnimatedImage?
    /// The byte count at which to look for a second frame, or for further frames; `nil` if the bytes can't become an animation.
    private var nextAttempt: Int? = 1

    /// - Parameter context: the context for decoding the first frame.
    init(_ coder: EntryCoder, options: DecodeOptions, context: ProcessingContext) {
        (self.coder, self.options, self.context) = (coder, options, context)
        if options.firstFrameOnly { nextAttempt = nil }
    }

    /// Takes all bytes that have arrived so far. Unless they are the last, a few more than before are left for the next call.
    /// - Returns: true if there is an animation now, and was none before.
    mutating func extend(_ data: Data, isEnd: Bool = false) -> Bool {
        guard isEnd || data.count >= nextAttempt ?? .max else { return false }
        // Each attempt reads all bytes. With so many more each time, all together take some times as long as the last, however many come.
        defer { if nextAttempt != nil { nextAttempt = data.count + max(1, data.count / (image == nil ? 8 : 64)) } }
        if let image {
            image.extend(data, context: context)
            return false
        }
        do throws(ImageError) {
            image = try AnimatedImage(arriving: data, options: options, coder, context: context)
        } catch {
            if ![.truncatedImage, .overBudget, .cancelled].contains(error.code) { nextAttempt = nil }
        }
        return image != nil
    }

    /// Takes the end of the load: all bytes, or the reason why they didn't come.
    func end(_ result: Result<Data, ImageError>) {
        switch result {
        case .success(let data): image?.finish(data, context: context)
        case .failure(let error): image?.interrupt(error)
        }
    }
}
