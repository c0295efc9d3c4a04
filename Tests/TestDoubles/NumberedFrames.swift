import FoundationEssentials

@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

extension ImageFormat {
    static let numbered = ImageFormat(rawValue: "numbered")
}

/// Decodes `NUMBERED count`, an animation of 4 × 4 pixels whose frames show their numbers and depend on all before them. It counts
/// how often each frame is decoded, also on the way to another one, and can fail.
final class NumberedFramesCoder: AnimatedImageCoder {
    struct State {
        var decodes: [Int: Int] = [:]
        var decoders = 0
        var openDecoders = 0
        var copies = 0
        var seeks = 0
        /// The decoders in memory that keep copies at an interval.
        var decodersWithCopies = 0
        var damaged: Set<Int> = []
        /// The frames that have another size than the first.
        var smaller: Set<Int> = []
        /// The frames whose decoder says that it was canceled, though nobody did.
        var falselyCancelled: Set<Int> = []
        /// True while there is no memory for frames.
        var isMemoryScarce = false
        /// Holds the decoding of each frame.
        var gate: ThreadGate?
        /// True if no frame after a damaged one can be decoded either.
        var endsAtDamage = false
    }

    let state = Lock(State())
    let durations: [Duration]
    let loopCount: Int

    init(_ durations: [Duration], loopCount: Int = 0) {
        self.durations = durations
        self.loopCount = loopCount
    }

    convenience init(count: Int, loopCount: Int = 0) {
        self.init([Duration](repeating: .milliseconds(100), count: count), loopCount: loopCount)
    }

    static let bytes = Data("NUMBERED".utf8)
    /// The memory of a frame.
    static let frameBytes = 4 * 64

    var decodes: [Int: Int] { state.withLock { $0.decodes } }
    var openDecoders: Int { state.withLock { $0.openDecoders } }
    var mostDecodes: Int { decodes.values.max() ?? 0 }

    func image(pressure: MemoryPressure? = nil, budget: DecodeBudget = .shared) throws -> AnimatedImage {
        var context = ProcessingContext(budget: budget)
        context.memoryPressure = pressure
        context.limits.maximumFrames = .max
        let image = try decode(Self.bytes, options: DecodeOptions(), context: context)
        if let animation = image.animation { return animation }
        guard let still = AnimatedImage(frames: [ImageFrame(pixels: image.pixels)], properties: image.properties) else {
            throw ImageError(.corruptImage, stage: .decode, reason: "no frames")
        }
        return still
    }

    var decodableFormats: Set<ImageFormat> { [.numbered] }

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { data == Self.bytes }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        ImageInfo(
            format: .numbered, size: PixelSize(width: 4, height: 4), frameCount: durations.count,
            loopCount: loopCount, frameDurations: durations, hasAlpha: false)
    }

    func frameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any FrameDecoder {
        state.withLock { $0.decoders += 1 }
        return Frames(self, try info(of: data, context: context), context)
    }

    private final class Frames: FrameDecoder {
        let info: ImageInfo
        var outputSize: PixelSize { info.size }
        private let coder: NumberedFramesCoder
        private let context: ProcessingContext
        private var next = 0
        private var interval: Int?
        private var copies: Set<Int> = [0]

        init(_ coder: NumberedFramesCoder, _ info: ImageInfo, _ context: ProcessingContext) {
            (self.coder, self.info, self.context) = (coder, info, context)
            coder.state.withLock { $0.openDecoders += 1 }
        }

        func nextFrame() throws(ImageError) -> ImageFrame? {
            guard next < info.frameCount else { return nil }
            let index = next
            guard !coder.state.withLock({ $0.isMemoryScarce }) else {
                throw ImageError(.outOfMemory, stage: .decode, reason: "no memory")
            }
            guard !coder.state.withLock({ $0.falselyCancelled.contains(index) }) else {
                throw ImageError(.cancelled, stage: .decode, reason: "the session of the decoder ended")
            }
            try pass()
            let isSmaller = coder.state.withLock { $0.smaller.contains(index) }
            var pixels = try MutablePixelBuffer(size: isSmaller ? PixelSize(width: 2, height: 2) : info.size)
            pixels.withUnsafeMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: UInt8(index % 256)) }
            return ImageFrame(pixels: pixels.freeze(), duration: info.frameDurations[index])
        }

        private func pass() throws(ImageError) {
            try context.checkCancellation()
            let index = next
            if let interval, index % interval == 0 { copies.insert(index) }
            let copyCount = copies.count
            let isDamaged = coder.state.withLock { state in
                state.decodes[index, default: 0] += 1
                state.copies = max(state.copies, copyCount)
                return state.damaged.contains(index) || state.endsAtDamage && index >= state.damaged.min() ?? .max
            }
            coder.state.withLock { $0.gate }?.wait()
            next += 1
            if isDamaged { throw ImageError(.corruptImage, stage: .decode, reason: "frame \(index) is damaged") }
        }

        func rewind() { next = 0 }

        func keepSeekPoints(every interval: Int) {
            if self.interval == nil { coder.state.withLock { $0.decodersWithCopies += 1 } }
            self.interval = interval
        }

        deinit {
            let hasCopies = interval != nil
            coder.state.withLock { state in
                state.openDecoders -= 1
                if hasCopies { state.decodersWithCopies -= 1 }
            }
        }

        func seek(to index: Int) throws(ImageError) {
            coder.state.withLock { $0.seeks += 1 }
            let copy = copies.filter { $0 <= index }.max() ?? 0
            if next > index || copy > next { next = copy }
            while next < index {
                do throws(ImageError) { try pass() } catch {
                    // The frames after a damaged one are drawn over the one before it.
                    if error.isCancellation || coder.state.withLock({ $0.endsAtDamage }) { throw error }
                }
            }
        }
    }
}

/// Advances a player from one due frame to the next, as fast as frames are decoded.
struct PlaybackDriver {
    let player: AnimatedImagePlayer
    var time = Duration.zero
    /// The frames that appeared.
    var shown: [Int] = []
    var isFinished = false

    init(_ player: AnimatedImagePlayer) { self.player = player }

    /// Advances until so many frames have appeared, or the animation has ended.
    mutating func show(_ count: Int) async {
        var left = count
        while left > 0, !isFinished {
            let update = player.advance(to: time)
            isFinished = update.isFinished
            if update.isNew, let frame = update.frame {
                shown.append(frame.index)
                left -= 1
            }
            if let delay = update.delay {
                if left > 0 { time += delay }
            } else {
                await Task.yield()
            }
        }
    }

    /// Advances at a time, and waits for the frame that is due then.
    mutating func show(at time: Duration) async -> AnimatedImagePlayer.Update {
        self.time = time
        var update = player.advance(to: time)
        while update.delay == nil, !update.isFinished, player.isPlaying {
            await Task.yield()
            let next = player.advance(to: time)
            update = .init(
                frame: next.frame, isNew: update.isNew || next.isNew, delay: next.delay, isFinished: next.isFinished)
        }
        return update
    }
}
