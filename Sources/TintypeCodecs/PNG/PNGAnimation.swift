internal import TintypeImages

/// The animation of a PNG file (PNG, third edition, section 11.3.2; before that "APNG 1.0").
struct PNGAnimation {
    /// A frame: the part of the canvas that it changes, how, and where its data is.
    struct Frame {
        var x: Int
        var y: Int
        var size: PixelSize
        /// As the file states it.
        var delay: Duration
        var disposal: FrameDisposal
        /// True if the frame is laid over the canvas, false if it replaces it.
        var blends: Bool
        /// The parts of the compressed data.
        var data: [Range<Int>] = []

        var rect: PixelRect { PixelRect(x: x, y: y, size: size) }
    }

    var frames: [Frame]
    /// The number of times that the animation is played; 0 to repeat it forever.
    var loopCount: Int
    /// The number of frames that have arrived completely, which only the bytes after them show.
    var wholeFrames: Int
    /// True if no announced frame is missing, though the last may lack its end.
    var hasAllFrames: Bool

    /// True if nothing that was drawn before a frame shows in it or in later frames.
    func isKeyframe(_ index: Int, canvas: PixelSize, isOpaque: Bool) -> Bool {
        guard index > 0 else { return true }
        let before = frames[index - 1]
        if before.disposal == .clear, before.size == canvas { return true }
        let frame = frames[index]
        return frame.size == canvas && (isOpaque || !frame.blends) && frame.disposal != .restorePrevious
    }

    /// True if parts of the canvas can be transparent even if no frame's pixels are.
    func leavesGaps(in canvas: PixelSize) -> Bool {
        var gaps = CanvasGaps(canvas: canvas)
        for frame in frames { gaps.add(frame.rect, isOpaque: true, disposal: frame.disposal) }
        return gaps.isSeen
    }
}

extension PNGAnimation {
    /// Collects the animation from the chunks in their order, and refuses it when they contradict each other: a viewer then
    /// shows the default image.
    struct Parser {
        let canvas: PixelSize
        private var control: (frames: Int, plays: Int)?
        private var frames: [Frame] = []
        private var nextSequenceNumber = 0
        private var hasSeenPixelData = false
        private var isBroken = false

        init(canvas: PixelSize) { self.canvas = canvas }

        mutating func read(_ type: PNGChunks.ChunkType, _ payload: Range<Int>, of bytes: UnsafeRawBufferPointer) {
            guard !isBroken else { return }
            switch type {
            case .actl: readControl(payload, of: bytes)
            case .fctl: readFrame(payload, of: bytes)
            case .idat:
                hasSeenPixelData = true
                // Without a frame control before it, the default image is not a frame.
                if frames.count == 1 { frames[0].data.append(payload) }
            case .fdat:
                guard checkSequence(payload, of: bytes), hasSeenPixelData, !frames.isEmpty else {
                    isBroken = true
                    return
                }
                frames[frames.count - 1].data.append(payload.dropFirst(4))
            default: break
            }
        }

        /// - Parameter isComplete: false lets frames at the end be missing.
        func finish(isComplete: Bool) -> PNGAnimation? {
            guard let control, !isBroken else { return nil }
            var frames = frames
            let wholeFrames = isComplete ? frames.count : frames.count - 1
            if !isComplete, frames.last?.data.isEmpty == true { frames.removeLast() }
            guard !frames.isEmpty, frames.allSatisfy({ !$0.data.isEmpty }) else { return nil }
            guard isComplete ? frames.count == control.frames : frames.count <= control.frames else { return nil }
            return PNGAnimation(
                frames: frames, loopCount: control.plays, wholeFrames: wholeFrames,
                hasAllFrames: frames.count == control.frames)
        }

        private mutating func readControl(_ payload: Range<Int>, of bytes: UnsafeRawBufferPointer) {
            guard control == nil, !hasSeenPixelData, payload.count == 8,
                let count = bytes.bigEndian32(at: payload.lowerBound), count > 0,
                let plays = bytes.bigEndian32(at: payload.lowerBound + 4)
            else {
                isBroken = true
                return
            }
            control = (count, plays)
        }

        private mutating func readFrame(_ payload: Range<Int>, of bytes: UnsafeRawBufferPointer) {
            let start = payload.lowerBound
            guard payload.count == 26, checkSequence(payload, of: bytes),
                let width = bytes.bigEndian32(at: start + 4), let height = bytes.bigEndian32(at: start + 8),
                let x = bytes.bigEndian32(at: start + 12), let y = bytes.bigEndian32(at: start + 16),
                let numerator = bytes.bigEndian16(at: start + 20), let denominator = bytes.bigEndian16(at: start + 22),
                let disposal = FrameDisposal(rawValue: bytes[start + 24]), bytes[start + 25] <= 1,
                width > 0, height > 0, x + width <= canvas.width, y + height <= canvas.height,
                // Each frame has its data before the next starts.
                frames.last.map({ !$0.data.isEmpty }) ?? true
            else {
                isBroken = true
                return
            }
            let size = PixelSize(width: width, height: height)
            // The default image has the size of the canvas, and so has the frame that it is.
            if !hasSeenPixelData, size != canvas {
                isBroken = true
                return
            }
            // A denominator of 0 is to be taken as 100.
            let delay = Duration.seconds(numerator) / (denominator == 0 ? 100 : denominator)
            frames.append(
                Frame(x: x, y: y, size: size, delay: delay, disposal: disposal, blends: bytes[start + 25] == 1))
        }

        private mutating func checkSequence(_ payload: Range<Int>, of bytes: UnsafeRawBufferPointer) -> Bool {
            guard payload.count >= 4, bytes.bigEndian32(at: payload.lowerBound) == nextSequenceNumber else {
                return false
            }
            nextSequenceNumber += 1
            return true
        }
    }
}
