internal import FoundationEssentials

/// The decoder of an animation, opened when it is needed, and its place. Used by one thread at a time.
struct FrameReader {
    private let open: () throws(ImageError) -> (any FrameDecoder)?
    private var decoder: (any FrameDecoder)?
    private var next = 0
    /// The number of frames between two copies of the canvas; `nil` for as few as the decoder makes.
    var seekPointInterval: Int? {
        didSet {
            guard seekPointInterval != oldValue else { return }
            // The copies that the decoder has made are of no use now.
            if oldValue != nil { close() }
            if let seekPointInterval { decoder?.keepSeekPoints(every: seekPointInterval) }
        }
    }

    init(open: @escaping () throws(ImageError) -> (any FrameDecoder)?) { self.open = open }

    /// Decodes a frame. After an error, the next call opens the animation again.
    mutating func frame(at index: Int) throws(ImageError) -> ImageFrame {
        do throws(ImageError) {
            let decoder = try opened()
            if next != index {
                // Another pass is no reason to keep copies of the canvas, as a seek would be.
                if index == 0 { try decoder.rewind() } else { try decoder.seek(to: index) }
            }
            guard let frame = try decoder.nextFrame() else {
                throw ImageError(
                    .truncatedImage, stage: .decode, reason: "frame \(index) of the animation is missing")
            }
            next = index + 1
            return frame
        } catch {
            close()
            throw error
        }
    }

    private mutating func opened() throws(ImageError) -> any FrameDecoder {
        if let decoder { return decoder }
        guard let new = try open() else {
            throw ImageError(.formatNotEnabled, stage: .decode, reason: "no coder reads the frames of the animation")
        }
        if let seekPointInterval { new.keepSeekPoints(every: seekPointInterval) }
        decoder = new
        next = 0
        return new
    }

    /// Releases the decoder and its memory.
    mutating func close() { decoder = nil }
}
