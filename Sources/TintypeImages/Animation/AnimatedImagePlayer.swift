/// A player of an animation: it determines the frame to show at any time, and decodes the next frames before they are due.
///
/// A player has no timer. A view calls ``advance(to:)`` for each refresh of the screen. Elsewhere, ``frames`` waits on a clock:
///
/// ```swift
/// let player = AnimatedImagePlayer(animation)
/// player.mode = .bounce
/// for await frame in player.frames { show(frame.pixels) }
/// ```
///
/// A new player is playing; its time starts at the first call of ``advance(to:)``. All members may be used from any thread. All players of
/// an ``AnimatedImage`` share its decoding, but may be at different frames.
public final class AnimatedImagePlayer: Sendable {
    /// The animation that is played.
    public let image: AnimatedImage
    let now: @Sendable () -> Duration
    /// Sleeps until a time of ``now``.
    let sleep: @Sendable (_ deadline: Duration) async throws -> Void
    private let pool: AnimationFramePool
    private let state: Lock<State>
    private let demandOrder = Lock(())
    /// The number that identifies the player to the image while it arrives.
    private let arrival = Lock<Int?>(nil)
    let playbackEvents = Broadcast<PlaybackEvent>()
    /// Sent, on any thread, whenever there may be something new to show.
    package let changes = Broadcast<Void>()

    /// Creates a player.
    /// - Parameters:
    ///   - image: the animation.
    ///   - mode: the order of the frames.
    ///   - maximumBufferSize: the memory for decoded frames, in bytes. See ``maximumBufferSize``.
    ///   - isPlaying: false for a player that is initially paused. It decodes no frames ahead.
    ///   - clock: the clock that ``frames`` waits on.
    public init(
        _ image: AnimatedImage, mode: PlaybackMode = .normal, maximumBufferSize: ByteCount? = nil,
        isPlaying: Bool = true, clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.image = image
        let beginning = clock.now
        now = { beginning.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: beginning.advanced(by: $0), tolerance: nil) }
        pool = image.framePool()
        let timeline = image.timeline(mode: mode, loopCount: nil)
        var start = State(timeline: timeline, maximumBufferSize: maximumBufferSize)
        start.isPlaying = isPlaying
        state = Lock(start)
        let member = pool.join(
            .init(demand: demand(state.withLock { $0 }), onFrame: { [changes] in changes.send() }))
        state.withLock { $0.member = member }
        guard timeline.isArriving else { return }
        let number = image.contents.changes.add { [weak self] in self?.imageChanged() }
        arrival.withLock { $0 = number }
        // It may have changed before.
        imageChanged()
    }

    deinit {
        if let number = arrival.withLock({ $0 }) { image.contents.changes.remove(number) }
        pool.leave(state.withLock { $0.member })
        playbackEvents.end()
    }

    // MARK: Settings

    /// The order of the frames. A change keeps the current frame, and continues from there.
    public var mode: PlaybackMode {
        get { state.withLock { $0.timeline.mode } }
        set { changeTimeline(mode: newValue) }
    }

    /// The number of passes; 0 to repeat the animation forever. Initially the image's.
    public var loopCount: Int {
        get { state.withLock { $0.timeline.loopCount } }
        set {
            state.withLock { $0.ownLoopCount = newValue }
            changeTimeline()
        }
    }

    /// The speed; 1 for the image's own. A number that isn't positive stops the animation.
    public var rate: Double {
        get { state.withLock { $0.rate } }
        set { change { $0.rate = newValue } }
    }

    /// True to let time continue, and skip frames that weren't decoded in time. False, the default, to show every frame: time stops while a
    /// frame is decoded, and never runs ahead of the next frame.
    public var skipsLateFrames: Bool {
        get { state.withLock { $0.skipsLateFrames } }
        set { change { $0.skipsLateFrames = newValue } }
    }

    /// The memory for decoded frames, in bytes. The minimum is one frame, or four to play backward. `nil`, the default, keeps all frames of
    /// an animation below 64 MB. For a larger animation, it keeps up to ten frames ahead, or, to play backward, about twice the square root
    /// of the number of frames, at most 512 MB.
    public var maximumBufferSize: ByteCount? {
        get { state.withLock { $0.maximumBufferSize } }
        set { change { $0.maximumBufferSize = newValue } }
    }

    // MARK: State

    /// True if the animation is playing: it hasn't been paused, and hasn't ended.
    public var isPlaying: Bool { state.withLock { $0.isPlaying } }
    /// True if time passes: the animation plays, at a speed above zero, and is visible.
    package var isMoving: Bool { !state.withLock { $0.isIdle } }
    /// The number of the current frame, or of the first frame to show.
    public var currentFrameIndex: Int { state.withLock { $0.position.frame } }
    /// The current frame; `nil` until the first frame is decoded.
    public var currentFrame: AnimationFrame? { state.withLock { $0.shown } }
    /// The number of completed passes.
    public var completedLoops: Int { state.withLock { $0.position.completedLoops } }

    // MARK: Control

    /// Continues after ``pause()``, and starts again after the end.
    public func play() {
        change { state in
            if !state.isPlaying, state.position.isFinished { state.move(to: 0) }
            (state.isPlaying, state.isStilled) = (true, false)
        }
    }

    /// Pauses playback at the current frame.
    public func pause() {
        change { state in
            (state.isPlaying, state.isStilled) = (false, false)
            state.lastTime = nil
        }
    }

    /// Pauses, and returns to the first frame and the first pass.
    public func stop() {
        change { state in
            (state.isPlaying, state.isStilled) = (false, false)
            state.move(to: 0)
        }
    }

    /// Moves to a frame, which appears as soon as it is decoded.
    /// - Parameters:
    ///   - index: the number of the frame, counted from 0. A number without a frame is ignored.
    ///   - loop: the number of passes that count as complete; `nil` to keep it.
    public func seek(toFrame index: Int, loop: Int? = nil) {
        guard image.frameDurations.indices.contains(index) else { return }
        change { state in
            let loop = max(0, loop ?? state.position.completedLoops)
            state.move(to: state.timeline.step(showing: index, inPass: min(loop, state.timeline.lastPass)))
        }
    }

    /// Moves to a time since the start of the first pass, at the speed 1.
    /// - Parameter time: the time since the start, at the speed 1.
    public func seek(to time: Duration) {
        change { state in
            let position = state.timeline.position(at: time)
            state.move(to: position.step)
            if let end = position.end { state.time = min(max(time, position.start), end) }
        }
    }

    /// True while the display of the animation is out of sight: time stands still, and ``isPlaying`` keeps the value that the program set.
    package var isSuspended: Bool {
        get { state.withLock { $0.isSuspended } }
        set {
            change { state in
                state.isSuspended = newValue
                if newValue { state.lastTime = nil }
            }
        }
    }

    /// True while the animation is paused because the desktop has reduced motion. It goes on as soon as this is false, unless the program has
    /// played, paused or stopped it meanwhile.
    package var isStilled: Bool {
        get { state.withLock { $0.isStilled } }
        set {
            change { state in
                guard newValue || state.isStilled else { return }
                (state.isPlaying, state.isStilled) = (!newValue, newValue)
                state.lastTime = nil
            }
        }
    }

    /// Releases the decoded frames of all players of the animation. Frames that are needed are decoded again.
    public func clearFrameBuffer() { pool.removeAll() }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        changes.send()
        updateDemand()
    }

    private func changeTimeline(mode: PlaybackMode? = nil) {
        change { state in
            let new = image.timeline(mode: mode ?? state.timeline.mode, loopCount: state.ownLoopCount)
            if new != state.timeline { state.replaceTimeline(new) }
        }
    }

    /// Goes on with the frames that have arrived, from the place where it is.
    private func imageChanged() {
        changeTimeline()
        guard let error = image.interruption else { return }
        let isNew = state.withLock { state in
            defer { state.isInterruptionReported = true }
            return !state.isInterruptionReported
        }
        if isNew { playbackEvents.send(.interrupted(error)) }
    }

    // MARK: Time

    /// The state of an animation at a given time.
    public struct Update: Sendable {
        /// The frame to show; `nil` until the first frame is decoded.
        public var frame: AnimationFrame?
        /// True if the frame appeared with this call.
        public var isNew: Bool
        /// The time from now until the next frame is due; `nil` if none is due, or if a frame is being decoded.
        public var delay: Duration?
        /// True if the animation has ended, and the frame remains.
        public var isFinished: Bool
        /// True if the frame remains until more of the animation has arrived (``AnimatedImage/isArriving``).
        public var isWaiting = false
        /// The number of frames that have appeared so far.
        var appearance = 0
    }

    /// Moves the animation to a time. The view that shows it calls this for each refresh of the screen, or when the next frame is due.
    ///
    /// It never waits: a frame that isn't decoded yet isn't shown. It starts to decode the next frames.
    /// - Parameter time: a time that increases with each call, from any starting point. A time before the last time counts as the last
    ///   time.
    public func advance(to time: Duration) -> Update {
        let (update, events, needsOthers) = state.withLock { state in
            state.advance(to: time) { lookup($0) }
        }
        for event in events { playbackEvents.send(event) }
        if needsOthers { updateDemand() }
        return update
    }

    private func lookup(_ index: Int) -> AnimationFramePool.Lookup {
        let lookup = pool.frame(at: index)
        // The first frame is there from the start.
        if case .pending = lookup, index == 0 { return .ready(ImageFrame(pixels: image.poster.pixels)) }
        return lookup
    }

    private func updateDemand() {
        // In order, so that the last demand belongs to the last state.
        demandOrder.withLock { _ in
            let state = state.withLock { $0 }
            pool.setDemand(demand(state), of: state.member)
        }
    }

    private func demand(_ state: State) -> FrameDemand {
        let buffer = FrameBuffer(
            frameCount: image.frameCount, frameBytes: image.poster.pixels.byteCount,
            canvasBytes: image.canvasBytes, mode: state.timeline.mode,
            maximum: state.maximumBufferSize)
        return FrameDemand(
            frames: state.timeline.upcomingFrames(fromStep: state.neededStep, limit: buffer.lookahead),
            buffer: buffer, isIdle: state.isIdle)
    }
}
