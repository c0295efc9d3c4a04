/// The relation between time and the frames of an animation: a value without a clock.
///
/// Frames are shown in steps. Step 0 starts at time zero, and each step lasts as long as its frame. A pass of ``PlaybackMode/bounce`` or
/// ``PlaybackMode/reversedBounce`` has both directions. After the last pass comes a last step, which remains: it shows the frame that
/// the passes started with in these two modes, and in the others the frame that they ended with.
///
/// The timeline of an animation that is arriving ends at the last frame that is there, and waits. Until the animation is whole, it can't
/// play backward: ``PlaybackMode/reverse`` and ``PlaybackMode/reversedBounce`` wait at the first frame.
///
/// - Complexity: O(log *n*) in the number of frames for each question; O(*n*) to create.
package struct AnimationTimeline: Sendable, Hashable {
    /// A place in the playback of an animation.
    package struct Position: Sendable, Hashable {
        /// The number of frames that were shown before, counted through all passes.
        package var step: Int
        /// The frame that is shown, counted from 0.
        package var frame: Int
        /// The number of passes that are complete.
        package var completedLoops: Int
        /// The time of the frame's appearance.
        package var start: Duration
        /// The time when the next frame is due; `nil` if this frame remains.
        package var end: Duration?

        /// True if the frame stays until more of the animation has arrived.
        package var isWaiting = false

        /// True if nothing comes after this frame.
        package var isFinished: Bool { end == nil && !isWaiting }
    }

    /// The shortest time that a frame is shown, so that no animation runs through endless passes in no time.
    package static let shortestDuration = Duration.milliseconds(1)

    /// The order of the frames.
    package let mode: PlaybackMode
    /// The number of passes; 0 for endless playback.
    package let loopCount: Int
    /// The number of frames of the animation.
    package let frameCount: Int
    /// True if there will be more frames.
    package let isArriving: Bool
    /// The number of frames that a pass shows.
    package let stepsPerPass: Int
    /// The start times of the steps of a pass, and its end, in nanoseconds.
    private let starts: [Int64]
    /// The order of the frames that are there.
    private let order: PlaybackMode

    /// Creates a timeline.
    /// - Parameters:
    ///   - durations: the duration of each frame. Durations below ``shortestDuration`` are raised to it, and absurd durations lowered so
    ///     that a pass is shorter than 146 years.
    ///   - mode: the order of the frames.
    ///   - loopCount: the number of passes; 0, or a negative number, for endless playback.
    ///   - isArriving: true if there will be more frames.
    package init(
        durations: [Duration], mode: PlaybackMode = .normal, loopCount: Int = 0, isArriving: Bool = false
    ) {
        self.mode = mode
        self.loopCount = max(0, loopCount)
        self.isArriving = isArriving
        frameCount = max(1, durations.count)
        order = isArriving ? .normal : mode
        let waitsAtFirst = isArriving && (mode == .reverse || mode == .reversedBounce)
        stepsPerPass = waitsAtFirst ? 1 : order.stepsPerPass(frameCount: frameCount)
        var starts: [Int64] = [0]
        starts.reserveCapacity(stepsPerPass + 1)
        var time: Int64 = 0
        let longest = Int64.max / 2 / Int64(stepsPerPass)
        for step in 0..<stepsPerPass {
            let frame = order.frame(atStep: step, frameCount: frameCount)
            let duration = frame < durations.count ? durations[frame] : Self.shortestDuration
            time += min(max(duration, Self.shortestDuration).inNanoseconds, longest)
            starts.append(time)
        }
        self.starts = starts
    }

    /// The duration of a pass.
    package var passDuration: Duration { .nanoseconds(passNanoseconds) }

    private var passNanoseconds: Int64 { starts[stepsPerPass] }

    /// The step that remains after the last pass, or until more frames arrive; `nil` for endless playback. A single frame always remains.
    package var lastStep: Int? {
        if isArriving { return stepsPerPass - 1 }
        if frameCount == 1 { return 0 }
        guard loopCount > 0 else { return nil }
        let (steps, overflow) = loopCount.multipliedReportingOverflow(by: stepsPerPass)
        return overflow ? nil : steps
    }

    /// The last pass that shows anything before the end and keeps sums of times in range.
    var lastPass: Int {
        min(farthestPass, lastStep.map { max(0, $0 - 1) / stepsPerPass } ?? farthestPass)
    }

    /// The last pass whose times are in range.
    private var farthestPass: Int { Int(Int64.max / passNanoseconds) - 1 }

    /// Returns the frame that is shown at a time since the start of playback. Times before zero count as zero.
    /// - Parameter time: the time since the start, at the speed 1.
    package func position(at time: Duration) -> Position {
        let time = max(0, time.inNanoseconds)
        let (pass, rest) = time.quotientAndRemainder(dividingBy: passNanoseconds)
        // The last step that starts at the time or before it.
        var (low, high) = (0, stepsPerPass)
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= rest { low = middle } else { high = middle }
        }
        // After the end, the last step; far beyond any playback, the same place in an earlier pass.
        if let lastStep, Int(pass) > lastPass { return position(ofStep: lastStep) }
        return position(ofStep: min(Int(pass), lastPass) * stepsPerPass + low)
    }

    /// Returns the place of a step. Steps after the end count as the last step, and steps before the start as the first.
    /// - Parameter step: the step, counted from 0.
    package func position(ofStep step: Int) -> Position {
        var step = min(max(0, step), lastStep ?? .max)
        // Far beyond any playback, the same place in an earlier pass, so that sums stay in range.
        if step / stepsPerPass > farthestPass { step = farthestPass * stepsPerPass + step % stepsPerPass }
        let (pass, place) = step.quotientAndRemainder(dividingBy: stepsPerPass)
        let start = Int64(pass) * passNanoseconds
        let isLast = step == lastStep
        let framePlace = isLast && step > 0 && !order.turnsAround ? stepsPerPass - 1 : place
        return Position(
            step: step, frame: order.frame(atStep: framePlace, frameCount: frameCount), completedLoops: pass,
            start: .nanoseconds(start + starts[place]),
            end: isLast ? nil : .nanoseconds(start + starts[place + 1]), isWaiting: isLast && isArriving)
    }

    /// Returns the first step of a pass that shows a frame.
    func step(showing frame: Int, inPass pass: Int) -> Int {
        let place = (0..<stepsPerPass).first { order.frame(atStep: $0, frameCount: frameCount) == frame } ?? 0
        return pass * stepsPerPass + place
    }

    /// Returns the frames that are due at a step and after it, each once, in the order of need.
    /// - Parameters:
    ///   - step: the first step.
    ///   - limit: the largest number of frames.
    func upcomingFrames(fromStep step: Int, limit: Int) -> [Int] {
        var frames: [Int] = []
        var seen = Set<Int>()
        // After a whole pass every frame has come.
        for next in step...(step + min(stepsPerPass, 4 * limit)) {
            if frames.count >= limit { break }
            if let lastStep, next > lastStep { break }
            let frame = position(ofStep: next).frame
            if seen.insert(frame).inserted { frames.append(frame) }
        }
        return frames
    }
}
