import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeImages

@Suite("Timelines of animations", .timeLimited)
struct AnimationTimelineTests {
    private func durations(_ milliseconds: [Int]) -> [Duration] { milliseconds.map { .milliseconds($0) } }

    private func frames(_ timeline: AnimationTimeline, _ count: Int) -> [Int] {
        (0..<count).map { timeline.position(ofStep: $0).frame }
    }

    @Test(
        "Each mode has its order",
        .capability("PLY-04"),
        arguments: [
            (PlaybackMode.normal, [0, 1, 2, 0, 1, 2, 0]), (.reverse, [2, 1, 0, 2, 1, 0, 2]),
            (.bounce, [0, 1, 2, 1, 0, 1, 2]), (.reversedBounce, [2, 1, 0, 1, 2, 1, 0]),
        ])
    func order(mode: PlaybackMode, expected: [Int]) {
        #expect(frames(AnimationTimeline(durations: durations([100, 200, 300]), mode: mode), 7) == expected)
    }

    @Test(
        "A time leads to a frame, its pass, and the time of the next one",
        .capability("PLY-03", "PLY-04"),
        arguments: [
            (PlaybackMode.normal, 0, 0, 0, 100), (.normal, 99, 0, 0, 100), (.normal, 100, 1, 0, 300),
            (.normal, 599, 2, 0, 600), (.normal, 600, 0, 1, 700), (.normal, 6_000_350, 2, 10_000, 6_000_600),
            (.reverse, 0, 2, 0, 300), (.reverse, 300, 1, 0, 500), (.reverse, 500, 0, 0, 600),
            (.reverse, 600, 2, 1, 900),
            (.bounce, 0, 0, 0, 100), (.bounce, 300, 2, 0, 600), (.bounce, 600, 1, 0, 800), (.bounce, 800, 0, 1, 900),
            (.reversedBounce, 500, 0, 0, 600), (.reversedBounce, 600, 1, 0, 800), (.reversedBounce, 800, 2, 1, 1_100),
        ])
    func times(mode: PlaybackMode, time: Int, frame: Int, loops: Int, end: Int) {
        let position = AnimationTimeline(durations: durations([100, 200, 300]), mode: mode)
            .position(at: .milliseconds(time))
        #expect(position.frame == frame && position.completedLoops == loops && position.end == .milliseconds(end))
        #expect(position.start <= .milliseconds(time))
    }

    @Test(
        "After the last pass a frame remains: the last one, or the one that the passes began with",
        .capability("PLY-05", "D15"),
        arguments: [
            (PlaybackMode.normal, [0, 1, 2, 0, 1, 2, 2, 2]), (.reverse, [2, 1, 0, 2, 1, 0, 0, 0]),
            (.bounce, [0, 1, 2, 1, 0, 1, 2, 1, 0, 0]), (.reversedBounce, [2, 1, 0, 1, 2, 1, 0, 1, 2, 2]),
        ])
    func ends(mode: PlaybackMode, expected: [Int]) {
        let timeline = AnimationTimeline(durations: durations([100, 200, 300]), mode: mode, loopCount: 2)
        #expect(frames(timeline, expected.count) == expected)
        let end = timeline.position(at: timeline.passDuration * 2)
        #expect(end.isFinished && end.completedLoops == 2 && end.step == timeline.lastStep)
        #expect(timeline.position(at: .days(10_000)) == end)
        let before = timeline.position(at: timeline.passDuration * 2 - .nanoseconds(1))
        #expect(!before.isFinished && before.completedLoops == 1)
    }

    @Test("One frame remains from the beginning; two frames have no middle")
    func few() {
        for mode in PlaybackMode.allCases {
            let one = AnimationTimeline(durations: durations([50]), mode: mode)
            #expect(one.position(at: .seconds(7)).frame == 0 && one.position(at: .zero).isFinished)
            #expect(frames(AnimationTimeline(durations: durations([50, 50]), mode: mode), 4).sorted() == [0, 0, 1, 1])
            #expect(AnimationTimeline(durations: [], mode: mode).position(at: .seconds(1)).frame == 0)
        }
    }

    @Test("Frames without a duration last for a moment, and absurd numbers stay in range", .capability("3.5"))
    func extremes() {
        let none = AnimationTimeline(durations: durations([0, -5, 0]))
        #expect(none.passDuration == .milliseconds(3))
        let long = [Duration](repeating: .seconds(Int64.max >> 8), count: 100_000)
        for mode in PlaybackMode.allCases {
            let timeline = AnimationTimeline(durations: long, mode: mode, loopCount: .max)
            #expect(
                timeline.passDuration > .zero && timeline.position(at: .seconds(Int64.max >> 4)).completedLoops >= 0)
            #expect(timeline.position(ofStep: .max).end != nil && timeline.position(ofStep: .min).step == 0)
            #expect(timeline.position(at: .seconds(-5)).frame == timeline.position(ofStep: 0).frame)
        }
    }

    @Test("Any timeline agrees with a count of its frames", .capability("PLY-04", "PLY-05"), arguments: 0..<200)
    func model(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let count = Int.random(in: 1...12, using: &random)
        let durations = (0..<count).map { _ in Duration.milliseconds(Int.random(in: 1...400, using: &random)) }
        let mode = PlaybackMode.allCases.randomElement(using: &random) ?? .normal
        let loops = Int.random(in: 0...3, using: &random)
        let timeline = AnimationTimeline(durations: durations, mode: mode, loopCount: loops)
        // The frames of one pass, written down.
        let forward = Array(0..<count)
        let middle = Array(forward.dropFirst().dropLast())
        let pass: [Int] =
            switch mode {
            case .normal: forward
            case .reverse: forward.reversed()
            case .bounce: count == 1 ? [0] : forward + middle.reversed()
            case .reversedBounce: count == 1 ? [0] : forward.reversed() + middle
            }
        var (time, step) = (Duration.zero, 0)
        while step < 40 {
            let isOver = count == 1 || loops > 0 && step == loops * pass.count
            let remaining = mode == .bounce || mode == .reversedBounce ? pass[0] : pass[pass.count - 1]
            let frame = isOver ? remaining : pass[step % pass.count]
            let position = timeline.position(at: time)
            #expect(position.frame == frame && position.step == step && position.start == time)
            #expect(position.completedLoops == (count == 1 ? 0 : step / pass.count) && position.isFinished == isOver)
            #expect(timeline.position(ofStep: step) == position)
            if isOver { break }
            #expect(timeline.position(at: time + durations[frame] - .nanoseconds(1)) == position)
            time += durations[frame]
            step += 1
        }
    }

    @Test("Upcoming frames come in the order of their need, each once")
    func upcoming() {
        func upcoming(_ mode: PlaybackMode, loops: Int = 0, from step: Int, _ limit: Int) -> [Int] {
            AnimationTimeline(durations: durations([9, 9, 9, 9, 9]), mode: mode, loopCount: loops)
                .upcomingFrames(fromStep: step, limit: limit)
        }
        #expect(upcoming(.normal, from: 3, 4) == [3, 4, 0, 1])
        #expect(upcoming(.reverse, from: 3, 4) == [1, 0, 4, 3])
        #expect(upcoming(.bounce, from: 3, 4) == [3, 4, 2, 1])
        #expect(upcoming(.bounce, from: 3, 99) == [3, 4, 2, 1, 0])
        #expect(upcoming(.normal, loops: 1, from: 3, 4) == [3, 4])
        #expect(upcoming(.normal, from: 3, 0).isEmpty)
    }
}
