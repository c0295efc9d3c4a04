import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeImages

@Suite("The frames of a player, as a sequence", .timeLimited)
struct PlayerFramesTests {
    @Test("Each of two loops over the frames of a player sees all of them", .capability("PLY-10"))
    func twoLoops() async throws {
        let clock = ManualClock()
        let player = AnimatedImagePlayer(try NumberedFramesCoder(count: 3, loopCount: 2).image(), clock: clock)
        var one = player.frames.makeAsyncIterator()
        var other = player.frames.makeAsyncIterator()
        for step in 0..<6 {
            let first = await one.next(isolation: nil)
            let second = await other.next(isolation: nil)
            #expect(first?.index == step % 3 && second?.index == step % 3)
            clock.advance(by: .milliseconds(100))
        }
        let first = await one.next(isolation: nil)
        let second = await other.next(isolation: nil)
        #expect(first == nil && second == nil)
    }

    @Test("A loop sees the frames that a view has shown, and begins with the frame that is there")
    func loopBesideView() async throws {
        let player = AnimatedImagePlayer(try NumberedFramesCoder(count: 3).image(), clock: ManualClock())
        var driver = PlaybackDriver(player)
        await driver.show(2)
        var loop = player.frames.makeAsyncIterator()
        let first = await loop.next(isolation: nil)
        #expect(first?.index == 1)
        player.seek(toFrame: 2)
        while player.advance(to: driver.time).frame?.index != 2 { await Task.yield() }
        let second = await loop.next(isolation: nil)
        #expect(second?.index == 2)
    }
}
