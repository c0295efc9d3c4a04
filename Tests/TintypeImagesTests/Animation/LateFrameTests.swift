import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

@Suite("Frames that are late", .timeLimited)
struct LateFrameTests {
    /// A player's state with 5 frames of 100 ms.
    private func state(skipsLateFrames: Bool) -> AnimatedImagePlayer.State {
        let durations = [Duration](repeating: .milliseconds(100), count: 5)
        var state = AnimatedImagePlayer.State(
            timeline: AnimationTimeline(durations: durations), maximumBufferSize: nil)
        state.skipsLateFrames = skipsLateFrames
        return state
    }

    private func advance(
        _ state: inout AnimatedImagePlayer.State, _ milliseconds: Int, isReady: Bool
    ) throws -> (frame: Int?, asked: Int?, delay: Duration?) {
        let pixels = try MutablePixelBuffer(size: PixelSize(width: 1, height: 1)).freeze()
        var asked: Int?
        let (update, _, _) = state.advance(to: .milliseconds(milliseconds)) { index in
            asked = index
            return isReady ? .ready(ImageFrame(pixels: pixels)) : .pending
        }
        return (update.frame?.index, asked, update.delay)
    }

    @Test("The earliest and the latest times end no program")
    func extremeTimes() throws {
        let player = AnimatedImagePlayer(try NumberedFramesCoder(count: 5).image())
        let latest = Duration.seconds(1.6e20)
        for time in [latest, Duration.zero - latest, latest] {
            _ = player.advance(to: time)
            player.seek(to: time)
        }
        #expect(player.advance(to: latest).frame != nil)
    }

    @Test("Where frames take longer to decode than to show, late ones are shown all the same", .capability("3.5"))
    func slowDecoder() throws {
        var state = state(skipsLateFrames: true)
        #expect(try advance(&state, 0, isReady: true).frame == 0)
        #expect(try advance(&state, 110, isReady: false).asked == 1)
        #expect(try advance(&state, 230, isReady: false).asked == 1)
        #expect(try advance(&state, 250, isReady: true).frame == 1)
        #expect(try advance(&state, 251, isReady: true).frame == 2)
        #expect(try advance(&state, 499, isReady: true).frame == 4)
    }

    @Test("Time stands while a frame is decoded; a seek into it keeps its place", .capability("PLY-06"))
    func standingTime() throws {
        var state = state(skipsLateFrames: false)
        #expect(try advance(&state, 0, isReady: true).frame == 0)
        #expect(try advance(&state, 150, isReady: false).frame == 0)
        #expect(try advance(&state, 900, isReady: true) == (1, 1, .milliseconds(100)))
        state.move(to: 2)
        state.time += .milliseconds(50)
        #expect(try advance(&state, 901, isReady: false).frame == 1)
        #expect(try advance(&state, 950, isReady: true) == (2, 2, .milliseconds(50)))
    }
}
