internal import FoundationEssentials

/// The decoder of an animation, opened when it is needed, and its place. Used by a single thread at a time.
struct FrameReader {
    private let source: AnimationContents
    private let context: ProcessingContext
    private var decoder: (any FrameDecoder)?
    private var next = 0
    /// The number of bytes that the decoder has, at least.
    private var bytes = 0
    /// The number of frames between two copies of the canvas; `nil` for as few as the decoder makes.
    var seekPointInterval: Int? {
        didSet {
            guard seekPointInterval != oldValue else { return }
            // The copies that the decoder has made are of no use now.
            if oldValue != nil { close() }
            if let seekPointInterval { decoder?.keepSeekPoints(every: seekPointInterval) }
        }
    }

    init(_ source: AnimationContents, context: ProcessingContext) { (self.source, self.context) = (source, context) }

    /// Decodes a frame. After an error, the next call opens the animation again.
    mutating func frame(at index: Int) throws(ImageError) -> ImageFrame {
        do throws(ImageError) {
            let decoder = try opened()
            if next != index {
                // Another pass isn't a reason to keep copies of the canvas, as a seek would be.
                if index == 0 { try decoder.rewind() } else { try decoder.seek(to: index) }
            }
            guard let frame = try decoder.nextFrame() else { throw Self.missing(index) }
            next = index + 1
            return frame
        } catch {
            close()
            throw error
        }
    }

    static func missing(_ index: Int) -> ImageError {
        ImageError(.truncatedImage, stage: .decode, reason: "frame \(index) of the animation is missing")
    }

    /// Gives the decoder the bytes that have arrived since it was opened, so that it no longer holds the old bytes.
    mutating func takeNewBytes() {
        // The next frame tells the error.
        do throws(ImageError) { try extend() } catch { close() }
    }

    private mutating func extend() throws(ImageError) {
        guard let arriving = decoder as? any ArrivingFrameDecoder else { return }
        let data = source.known.data
        guard data.count > bytes else { return }
        bytes = data.count
        try arriving.extend(data)
    }

    private mutating func opened() throws(ImageError) -> any FrameDecoder {
        if let decoder {
            try extend()
            return decoder
        }
        bytes = source.known.data.count
        let new = try source.open(context)
        if let seekPointInterval { new.keepSeekPoints(every: seekPointInterval) }
        decoder = new
        next = 0
        return new
    }

    /// Releases the decoder and its memory.
    mutating func close() { decoder = nil }
}
