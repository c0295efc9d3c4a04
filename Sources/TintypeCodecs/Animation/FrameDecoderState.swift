internal import FoundationEssentials
internal import TintypeImages

/// The part of a decoder of frames that does not depend on the format: the bytes, the facts known about them, and the place in the
/// animation.
struct FrameDecoderState {
    var data: Data
    var info: ImageInfo
    var properties: Image.Properties
    /// True once it turned out that frames, or rows of the frame that was given last, are missing.
    var isPartial: Bool
    var seekPoints: SeekPoints
    /// The frame that comes next.
    var next = 0
    /// The frames that are damaged, as far as they have been tried.
    private var damagedFrames: Set<Int> = []
    let setup: FrameSetup

    init(
        _ data: Data, info: ImageInfo, properties: Image.Properties, isPartial: Bool, setup: FrameSetup
    ) {
        self.data = data
        self.info = info
        self.properties = properties
        self.isPartial = isPartial
        self.setup = setup
        seekPoints = SeekPoints(setup.context)
    }

    /// Takes the bytes again with more of them at the end.
    /// - Throws: ``ImageError/Code/limitExceeded`` if the present facts exceed a limit.
    mutating func extend(
        _ data: Data, info: ImageInfo, properties: Image.Properties, isPartial: Bool
    ) throws(ImageError) {
        try setup.check(info)
        self.data = data
        self.info = info
        self.properties = properties
        self.isPartial = isPartial || !damagedFrames.isEmpty
    }

    /// Ends the animation before a frame whose end is missing: the frames before it are not lost.
    /// - Throws: the error, if it is of another kind, concerns the first frame, or if an image must not be partial.
    mutating func endBeforeFrame(_ error: ImageError) throws(ImageError) {
        guard next > 0, isPartial || error.isDamage, !error.isCancellation else { throw error }
        try notePart(error)
    }

    /// Passes over a damaged frame, so that the other frames are not lost. The picture before it stays for its duration.
    /// - Throws: the error, if it is of another kind, if an image must not be partial, or if all frames are damaged.
    mutating func skipDamagedFrame(_ error: ImageError) throws(ImageError) {
        guard error.isDamage, info.isAnimated, !setup.options.firstFrameOnly else { throw error }
        try notePart(error)
        guard damagedFrames.count < info.frameCount else { throw error }
    }

    /// Notes that the next frame, or rows of it, are missing.
    /// - Throws: the error, if an image must not be partial.
    mutating func notePart(_ error: ImageError) throws(ImageError) {
        guard setup.options.allowsPartialImage else { throw error }
        isPartial = true
        damagedFrames.insert(next)
    }
}

extension ImageError {
    /// True if the bytes of a frame are wrong or missing.
    var isDamage: Bool { [.truncatedImage, .corruptImage].contains(code) }
}

extension SeekableFrames {
    var info: ImageInfo { state.info }
    var properties: Image.Properties { state.properties }
    var isPartial: Bool { state.isPartial }
    var outputSize: PixelSize { state.setup.outputSize }

    func rewind() { begin(at: 0, over: nil) }
}
