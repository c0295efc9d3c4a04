extension AnimatedImagePlayer {
    /// The place of a player in its animation.
    struct State: Sendable {
        var timeline: AnimationTimeline
        /// The place of the frame that is shown, or is to be shown as soon as it is decoded.
        var position: AnimationTimeline.Position
        /// The step whose frame is needed first.
        private(set) var neededStep = 0
        /// The time since the start of playback at the speed 1.
        var time = Duration.zero
        /// The time of the last advance; `nil` if time stands still until the next event.
        var lastTime: Duration?
        var isPlaying = true
        /// True while the animation is invisible.
        var isSuspended = false
        /// True if nothing but the desktop's wish for reduced motion has paused it.
        var isStilled = false
        var rate = 1.0
        var skipsLateFrames = false
        var maximumBufferSize: ByteCount?
        /// The number of passes that the program wants; `nil` for the image's.
        var ownLoopCount: Int?
        /// True once it was told that the rest of the animation won't arrive.
        var isInterruptionReported = false
        var shown: AnimationFrame?
        /// The number of frames that have appeared, the one that is shown included.
        private var appearances = 0
        /// The member of the frame pool.
        var member = 0
        /// True if ``position`` is on the screen.
        private var isShown = false
        /// True if the frame has to appear, even if it is already on the screen.
        private var needsFrame = true
        /// The place whose frame is due and isn't decoded yet.
        private var awaited: AnimationTimeline.Position?
        private var reportedDamage: Set<Int> = []

        init(timeline: AnimationTimeline, maximumBufferSize: ByteCount?) {
            self.timeline = timeline
            self.maximumBufferSize = maximumBufferSize
            position = timeline.position(ofStep: 0)
        }

        /// Goes to a step, whose frame has to be shown.
        mutating func move(to step: Int) {
            position = timeline.position(ofStep: step)
            time = position.start
            neededStep = position.step
            lastTime = nil
            (isShown, needsFrame, awaited) = (false, true, nil)
        }

        /// Takes another timeline, at the frame that is shown.
        mutating func replaceTimeline(_ new: AnimationTimeline) {
            let (old, elapsed) = (position, time - position.start)
            let hasBegun = shown != nil || old.step > 0
            var step = 0
            if hasBegun {
                let isSameOrder = new.mode == timeline.mode && !old.isFinished
                let pass = min(old.isFinished ? old.completedLoops - 1 : old.completedLoops, new.lastPass)
                step = isSameOrder ? old.step : new.step(showing: old.frame, inPass: max(0, pass))
            }
            timeline = new
            position = new.position(ofStep: step)
            neededStep = position.step
            let latest = position.isWaiting ? .longestLimit : position.end ?? position.start
            time = min(position.start + elapsed, latest)
            // Its waiting time ends now, and not at the last advance.
            if old.isWaiting, time < position.start + elapsed { lastTime = nil }
            awaited = nil
            // An end that has come by the change is still to be told.
            isShown = isShown && hasBegun && position.frame == shown?.index && !position.isFinished
        }

        /// True if time passes.
        private var isMoving: Bool { isPlaying && !isSuspended }

        /// True if only the frame on the screen is needed for now.
        var isIdle: Bool { !isMoving || speed == 0 }

        /// The rate, or 0 where it is none, or so low that a frame would stay for ever.
        private var speed: Double { rate >= 1e-6 && rate.isFinite ? min(rate, 1_000) : 0 }

        mutating func advance(
            to now: Duration, _ lookup: (Int) -> AnimationFramePool.Lookup
        ) -> (Update, [PlaybackEvent], needsOthers: Bool) {
            // Differences of longer times would not be in range.
            let now = max(.seconds(Int64.min), min(now, .seconds(Int64.max)))
            let elapsed = lastTime.map { max(.zero, now - $0) } ?? .zero
            lastTime = isMoving ? max(now, lastTime ?? now) : nil
            // Limited so that a computer that slept for years stays in range.
            let isHeld = awaited != nil && !skipsLateFrames
            if isMoving, !isHeld { time += min(elapsed, .longestLimit) * speed }
            var events: [PlaybackEvent] = []
            let old = (neededStep, isIdle)
            let isNew = duePosition.map { show($0, lookup, &events) } ?? false
            let update = Update(
                frame: shown, isNew: isNew, delay: delay, isFinished: isShown && position.isFinished,
                isWaiting: isShown && position.isWaiting, appearance: appearances)
            return (update, events, old != (neededStep, isIdle))
        }

        /// The place whose frame has to be shown now; `nil` if it is shown already.
        private var duePosition: AnimationTimeline.Position? {
            guard isShown else { return position }
            guard isMoving, speed > 0, let end = position.end, time >= end else { return nil }
            guard skipsLateFrames else { return timeline.position(ofStep: position.step + 1) }
            // A frame that is waited for comes late: else a slow decoder would never show any.
            return awaited ?? timeline.position(at: time)
        }

        /// - Returns: true if another frame is on the screen now.
        private mutating func show(
            _ due: AnimationTimeline.Position, _ lookup: (Int) -> AnimationFramePool.Lookup,
            _ events: inout [PlaybackEvent]
        ) -> Bool {
            let isSameFrame = !needsFrame && due.frame == shown?.index
            var pixels = shown?.pixels
            var isDamaged = false
            neededStep = due.step
            if !isSameFrame {
                switch lookup(due.frame) {
                case .ready(let frame): pixels = frame.pixels
                case .failed(let error):
                    isDamaged = true
                    if reportedDamage.insert(due.frame).inserted {
                        events.append(.damagedFrame(index: due.frame, error))
                    }
                case .pending:
                    if isMoving { awaited = due }
                    if !skipsLateFrames, isShown { time = due.start }
                    return false
                }
            }
            awaited = nil
            // With nothing skipped, excess time is dropped, except for the duration of a single frame.
            if !skipsLateFrames { time = min(time, due.end ?? due.start) }
            if due.completedLoops > position.completedLoops, isShown { events.append(.loop(count: due.completedLoops)) }
            (position, isShown, needsFrame) = (due, true, false)
            if let pixels, !isSameFrame {
                shown = AnimationFrame(
                    index: due.frame, completedLoops: due.completedLoops, pixels: pixels, isDamaged: isDamaged)
                appearances += 1
                events.append(.frame(index: due.frame))
            }
            if due.isFinished {
                isPlaying = false
                events.append(.end)
            }
            return !isSameFrame && pixels != nil
        }

        /// The time until the next frame is due.
        private var delay: Duration? {
            guard isShown, isMoving, awaited == nil, speed > 0, let end = position.end else { return nil }
            guard time < end else { return .zero }
            // Rounded up, so that the frame is due then; a day at most, which a viewer can't notice.
            let nanoseconds = Double((end - time).inNanoseconds) / speed
            return .nanoseconds(Int64(min(max(1, nanoseconds.rounded(.up)), 86_400e9)))
        }
    }
}
