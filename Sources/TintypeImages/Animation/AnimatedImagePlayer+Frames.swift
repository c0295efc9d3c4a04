extension AnimatedImagePlayer {
    /// The frames, each delivered when it is due on the player's clock. The sequence ends after the last pass.
    ///
    /// Use it in programs without a view: iterating advances the player. A frame that becomes due while the loop's body runs comes next, or
    /// is skipped, depending on ``skipsLateFrames``. While the player is paused, the sequence waits.
    ///
    /// Several loops receive the same frames. A loop whose body takes longer than the others misses frames.
    public var frames: some AsyncSequence<AnimationFrame, Never> & Sendable { Frames(player: self) }

    /// The events of playback, as they happen. Each call returns another stream, which ends with the player. An observer that falls more
    /// than a thousand events behind misses the oldest.
    public var events: AsyncStream<PlaybackEvent> { playbackEvents.stream(backlog: 1_024) }

    /// The frames of an animation, each at its time.
    fileprivate struct Frames: AsyncSequence, Sendable {
        let player: AnimatedImagePlayer

        func makeAsyncIterator() -> Iterator { Iterator(player) }
    }
}

extension AnimatedImagePlayer.Frames {
    /// An iterator that advances its player.
    final class Iterator: AsyncIteratorProtocol {
        private let player: AnimatedImagePlayer
        private let alarm: Alarm
        private let changeHandler: Int
        /// The appearance of the frame that was returned last. Others may advance the player, too.
        private var lastAppearance = 0
        private var isFinished = false

        init(_ player: AnimatedImagePlayer) {
            self.player = player
            let alarm = Alarm()
            self.alarm = alarm
            changeHandler = player.changes.add { alarm.ring() }
        }

        deinit { player.changes.remove(changeHandler) }

        /// Waits for the next frame; `nil` after the last frame, and in a canceled task.
        func next() async -> AnimationFrame? { await next(isolation: nil) }

        /// Waits until the next frame is due, and returns it; `nil` after the last frame, and in a canceled task.
        func next(isolation actor: isolated (any Actor)?) async -> AnimationFrame? {
            while !isFinished, !Task.isCancelled {
                let time = player.now()
                let update = player.advance(to: time)
                isFinished = update.isFinished
                if update.appearance != lastAppearance, let frame = update.frame {
                    lastAppearance = update.appearance
                    return frame
                }
                guard !isFinished else { break }
                await Self.wait(until: update.delay.map { time + $0 }, alarm: alarm, player: player)
            }
            return nil
        }

        /// Waits until a time of the player's clock, until the player has something new, or until the task is canceled.
        private static func wait(until deadline: Duration?, alarm: Alarm, player: AnimatedImagePlayer) async {
            let sleeper = deadline.map { deadline in
                Task { [sleep = player.sleep] in
                    do {
                        // Not for a duration: that would start when the task does.
                        try await sleep(deadline)
                    } catch {
                        // A canceled task no longer waits. A clock that fails must not stop the animation.
                        if Task.isCancelled { return }
                    }
                    alarm.ring()
                }
            }
            defer { sleeper?.cancel() }
            await withTaskCancellationHandler {
                await alarm.wait()
            } onCancel: {
                alarm.ring()
            }
        }
    }

    /// A bell that a single task waits for. It stays rung until then.
    private final class Alarm: Sendable {
        private struct State {
            var isRung = false
            var waiting: CheckedContinuation<Void, Never>?
        }

        private let state = Lock(State())

        func ring() {
            let waiting = state.withLock { state in
                state.isRung = state.waiting == nil
                return state.waiting.take()
            }
            waiting?.resume()
        }

        func wait() async {
            await withCheckedContinuation { continuation in
                let isRung = state.withLock { state in
                    defer { state.isRung = false }
                    if !state.isRung { state.waiting = continuation }
                    return state.isRung
                }
                if isRung { continuation.resume() }
            }
        }
    }
}
