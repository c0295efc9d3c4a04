import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeImages

@Suite("Playing what has arrived", .timeLimited)
struct ArrivingPlayerTests {
    private let coder = GrowingFramesCoder()
    private let context = ProcessingContext()

    private func extend(_ image: AnimatedImage, to frames: Int) {
        image.extend(GrowingFramesCoder.bytes(frames), context: context)
    }

    private func finish(_ image: AnimatedImage, with frames: Int) {
        image.finish(GrowingFramesCoder.bytes(frames, isWhole: true), context: context)
    }

    /// Advances until the frame that is due is shown.
    private func frame(_ player: AnimatedImagePlayer, at milliseconds: Int) async -> AnimatedImagePlayer.Update {
        var update = player.advance(to: .milliseconds(milliseconds))
        while update.delay == nil, !update.isFinished, !update.isWaiting {
            await Task.yield()
            update = player.advance(to: .milliseconds(milliseconds))
        }
        return update
    }

    @Test(
        "A player waits at the last frame that is there, goes on when more arrive, and loops when all are there",
        .capability("AIV-05", "D17", "3.5"))
    func waiting() async throws {
        #expect(try coder.image(1) == nil)
        let image = try #require(try coder.image(2))
        #expect(image.isArriving && image.frameCount == 2)
        let player = AnimatedImagePlayer(image)
        #expect(await frame(player, at: 0).delay == .milliseconds(100))
        var update = await frame(player, at: 100)
        #expect(update.frame?.index == 1 && update.isWaiting && update.delay == nil && !update.isFinished)
        update = await frame(player, at: 5_000)
        #expect(update.frame?.index == 1 && update.isWaiting && player.isPlaying && player.completedLoops == 0)
        // The frame has been there for long enough, so that the next one is due at once, and none is skipped.
        extend(image, to: 4)
        update = await frame(player, at: 5_010)
        #expect(update.frame?.index == 2 && update.delay == .milliseconds(100))
        #expect(await frame(player, at: 5_110).isWaiting)
        // The last frame has been there for 30 ms.
        #expect(await frame(player, at: 5_140).isWaiting)
        finish(image, with: 4)
        #expect(!image.isArriving && image.interruption == nil && image.loopCount == 2)
        update = await frame(player, at: 5_140)
        #expect(update.frame?.index == 3 && update.delay == .milliseconds(70) && !update.isWaiting)
        update = await frame(player, at: 5_210)
        #expect(update.frame?.index == 0 && player.completedLoops == 1)
        // The poster is the first frame.
        #expect(coder.state.withLock { $0.decodes } == [0: 2, 1: 1, 2: 1, 3: 1])
    }

    @Test("Late frames are dropped, but not those that had not arrived", .capability("AIV-05"))
    func dropping() async throws {
        let image = try #require(try coder.image(2))
        let player = AnimatedImagePlayer(image)
        player.skipsLateFrames = true
        _ = await frame(player, at: 0)
        #expect(await frame(player, at: 900).isWaiting)
        extend(image, to: 6)
        #expect(await frame(player, at: 1_000).frame?.index == 2)
        #expect(await frame(player, at: 1_250).frame?.index == 4)
    }

    @Test(
        "Whatever the mode, the frames that are there come forward first", .capability("AIV-05", "PLY-04"),
        arguments: [
            (PlaybackMode.normal, [0, 1, 2, 0, 1, 2]), (.bounce, [0, 1, 2, 1, 0, 1]), (.reverse, [0, 2, 1, 0, 2, 1]),
            (.reversedBounce, [0, 2, 1, 0, 1, 2]),
        ])
    func modes(mode: PlaybackMode, expected: [Int]) async throws {
        let image = try #require(try coder.image(3))
        let player = AnimatedImagePlayer(image, mode: mode)
        var (shown, time) = ([Int](), 0)
        while shown.count < expected.count {
            let update = await frame(player, at: time)
            if let index = update.frame?.index, shown.last != index { shown.append(index) }
            if update.isWaiting { finish(image, with: 3) }
            time += 50
        }
        #expect(shown == expected)
    }

    @Test("Seeking reaches the frames that are there; the program's loop count stays", .capability("AIV-05", "PLY-09"))
    func seeking() async throws {
        let image = try #require(try coder.image(3))
        let player = AnimatedImagePlayer(image)
        player.seek(toFrame: 2, loop: 5)
        #expect(await frame(player, at: 0).frame?.index == 2)
        player.seek(toFrame: 3)
        #expect(await frame(player, at: 10).frame?.index == 2)
        player.seek(to: .seconds(7))
        #expect(await frame(player, at: 20).frame?.index == 2 && player.completedLoops == 0)
        player.loopCount = 1
        extend(image, to: 4)
        finish(image, with: 4)
        #expect(player.loopCount == 1)
        var update = await frame(player, at: 30)
        for step in 1...4 where !update.isFinished { update = await frame(player, at: 30 + step * 100) }
        #expect(update.frame?.index == 3 && player.completedLoops == 1)
    }

    @Test(
        "If the rest doesn't come, it is told once, and the frames that are there go on", .capability("AIV-05", "3.8"))
    func interrupted() async throws {
        let image = try #require(try coder.image(3))
        let player = AnimatedImagePlayer(image)
        let events = player.events
        _ = await frame(player, at: 0)
        extend(image, to: 4)
        let error = ImageError(.connectionLost, stage: .load, reason: "the server hung up")
        image.interrupt(error)
        image.interrupt(ImageError(.cancelled, stage: .load, reason: "too late"))
        extend(image, to: 5)
        player.loopCount = 2
        #expect(image.interruption?.code == .connectionLost && !image.isArriving && image.frameCount == 4)
        var (shown, time) = ([0], 0)
        while shown.count < 8 {
            time += 100
            let update = await frame(player, at: time)
            if let index = update.frame?.index { shown.append(index) }
        }
        #expect(shown == [0, 1, 2, 3, 0, 1, 2, 3])
        #expect(await frame(player, at: time + 100).isFinished)
        var codes: [ImageError.Code] = []
        for await event in events {
            if case .interrupted(let error) = event { codes.append(error.code) }
            if case .end = event { break }
        }
        #expect(codes == [.connectionLost])
        #expect(throws: ImageError.self) { try image.forEachFrame { _ in } }
    }

    @Test("A file that is cut off, or is another one in the end, is reported", .capability("AIV-05", "3.8"))
    func cutOff() throws {
        let image = try #require(try coder.image(3))
        image.finish(GrowingFramesCoder.bytes(5), context: context)
        #expect(image.interruption?.code == .truncatedImage && image.frameCount == 5)
        let other = try #require(try coder.image(3))
        other.finish(Data("GROWING???.".utf8), context: context)
        #expect(other.interruption?.code == .truncatedImage && other.frameCount == 3)
    }

    @Test("An animation that grows beyond a limit stops there", .capability("AIV-05", "3.1"))
    func limits() throws {
        var limits = DecodeLimits()
        limits.maximumFrames = 4
        let image = try #require(try coder.image(3))
        image.extend(GrowingFramesCoder.bytes(5), context: ProcessingContext(limits: limits))
        #expect(image.interruption?.code == .limitExceeded && image.frameCount == 3)
    }

    @Test("A player that joins late has the frames that are there, and shares them", .capability("AIV-05", "FPL-01"))
    func lateJoiner() async throws {
        let image = try #require(try coder.image(2))
        let first = AnimatedImagePlayer(image)
        _ = await frame(first, at: 0)
        _ = await frame(first, at: 100)
        extend(image, to: 4)
        let second = AnimatedImagePlayer(image)
        for index in 0..<4 { #expect(await frame(second, at: index * 100).frame?.index == index) }
        #expect(await frame(second, at: 700).isWaiting)
        finish(image, with: 5)
        #expect(await frame(second, at: 710).frame?.index == 4)
        #expect(await frame(first, at: 200).frame?.index == 2)
        #expect(coder.state.withLock { $0.decodes } == [0: 2, 1: 1, 2: 1, 3: 1, 4: 1])
        let third = AnimatedImagePlayer(image)
        #expect(await frame(third, at: 0).frame?.index == 0)
    }

    @Test("A sequence of frames waits for those that arrive", .capability("AIV-05", "PLY-10"))
    func sequence() async throws {
        let clock = ManualClock()
        let image = try #require(try coder.image(2))
        let player = AnimatedImagePlayer(image, clock: clock)
        player.loopCount = 1
        async let shown = player.frames.reduce(into: [Int]()) { shown, frame in
            shown.append(frame.index)
            clock.advance(by: .milliseconds(100))
        }
        while player.currentFrameIndex != 1 { await Task.yield() }
        extend(image, to: 3)
        while player.currentFrameIndex != 2 { await Task.yield() }
        finish(image, with: 4)
        #expect(await shown == [0, 1, 2, 3])
    }

    @Test("The decoder holds the newest bytes only, and playing keeps few frames", .capability("AIV-05", "3.1"))
    func memory() async throws {
        let image = try #require(try coder.image(2))
        let player = AnimatedImagePlayer(image, maximumBufferSize: ByteCount(3 * 4 * 64))
        _ = await frame(player, at: 0)
        for count in 3...60 {
            extend(image, to: count)
            _ = await frame(player, at: count * 1_000)
            #expect(image.framePool().statistics.frames <= 4)
        }
        extend(image, to: 200)
        let bytes = image.data.count
        // The decoder may be at work, and takes them before its next frame.
        while coder.state.withLock({ $0.bytes }) != bytes { await Task.yield() }
        #expect(image.framePool().statistics.mostFrames <= 5)
        #expect(coder.state.withLock { $0.decoders } == 2)
    }

    @Test("A whole animation equals one that has arrived; one that hasn't equals itself", .capability("ANI-01"))
    func equality() throws {
        let (one, other) = (try #require(try coder.image(2)), try #require(try coder.image(2)))
        let hash = one.hashValue
        #expect(one == one && one != other)
        finish(one, with: 3)
        finish(other, with: 3)
        let whole = try #require(try coder.decode(GrowingFramesCoder.bytes(3, isWhole: true)).animation)
        #expect(one == other && one == whole && hash == one.hashValue && hash == whole.hashValue)
    }
}
