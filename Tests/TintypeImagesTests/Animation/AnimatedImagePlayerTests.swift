import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeImages

@Suite("Players of animations", .timeLimited)
struct AnimatedImagePlayerTests {
    private func player(
        _ coder: NumberedFramesCoder, mode: PlaybackMode = .normal, loops: Int? = nil
    ) throws -> AnimatedImagePlayer {
        let player = AnimatedImagePlayer(try coder.image())
        player.mode = mode
        if let loops { player.loopCount = loops }
        return player
    }

    @Test(
        "Every frame is shown in the order of the mode, and the loops are counted",
        .capability("PLY-02", "PLY-04", "PLY-05", "PLY-10", "AIV-11", "D15"),
        arguments: [
            (PlaybackMode.normal, [0, 1, 2, 0, 1, 2]), (.reverse, [2, 1, 0, 2, 1, 0]),
            (.bounce, [0, 1, 2, 1, 0, 1, 2, 1, 0]), (.reversedBounce, [2, 1, 0, 1, 2, 1, 0, 1, 2]),
        ])
    func modes(mode: PlaybackMode, expected: [Int]) async throws {
        let player = try player(NumberedFramesCoder(count: 3), mode: mode, loops: 2)
        let events = player.events
        var driver = PlaybackDriver(player)
        await driver.show(100)
        #expect(driver.shown == expected && driver.isFinished)
        #expect(driver.time == .milliseconds(mode == .normal || mode == .reverse ? 600 : 800))
        #expect(!player.isPlaying && player.completedLoops == 2)
        var (frames, loops, ends) = ([Int](), [Int](), 0)
        for await event in events {
            switch event {
            case .frame(let index): frames.append(index)
            case .loop(let count): loops.append(count)
            case .damagedFrame, .interrupted: Issue.record("nothing is damaged or missing")
            case .end: ends += 1
            }
            if ends > 0 { break }
        }
        #expect(frames == expected && loops == [1, 2])
        // Once more.
        player.play()
        driver = PlaybackDriver(player)
        await driver.show(2)
        #expect(driver.shown == Array(expected.prefix(2)))
    }

    @Test("A setting that stays as it is changes nothing: after the end, playing begins anew")
    func sameSettings() async throws {
        let player = try player(NumberedFramesCoder(count: 3), loops: 1)
        var driver = PlaybackDriver(player)
        await driver.show(9)
        player.loopCount = 1
        player.mode = .normal
        #expect(player.completedLoops == 1)
        player.play()
        driver = PlaybackDriver(player)
        await driver.show(9)
        #expect(driver.shown == [0, 1, 2])
    }

    @Test("The loop count is the image's, or the program's, also while it plays", .capability("PLY-02", "AIV-03"))
    func loopCount() async throws {
        let player = AnimatedImagePlayer(try NumberedFramesCoder(count: 2, loopCount: 1).image())
        #expect(player.loopCount == 1)
        player.loopCount = 0
        var driver = PlaybackDriver(player)
        await driver.show(7)
        player.loopCount = 4
        await driver.show(100)
        #expect(driver.shown == [0, 1, 0, 1, 0, 1, 0, 1] && player.completedLoops == 4)
    }

    @Test("An animation that is to be played less often than once is repeated for ever")
    func negativeLoopCount() throws {
        let frame = ImageFrame(pixels: try Image(size: PixelSize(width: 2, height: 2)) { _ in }.pixels)
        var image = try #require(Image(frames: [frame, frame], loopCount: -3))
        #expect(image.loopCount == 0 && image.animation?.loopCount == 0)
        image.loopCount = -1
        #expect(image.loopCount == 0)
    }

    @Test("The rate changes the time of frames; at zero and below the animation stands", .capability("PLY-03"))
    func rate() async throws {
        let player = try player(NumberedFramesCoder(count: 4))
        var driver = PlaybackDriver(player)
        #expect(await driver.show(at: .zero).frame?.index == 0)
        player.rate = 2
        #expect(player.advance(to: .zero).delay == .milliseconds(50))
        #expect(await driver.show(at: .milliseconds(50)).frame?.index == 1)
        player.rate = 0.5
        #expect(await driver.show(at: .milliseconds(249)).frame?.index == 1)
        #expect(await driver.show(at: .milliseconds(250)).frame?.index == 2)
        for rate in [0, -3, Double.nan, .infinity] {
            player.rate = rate
            let update = player.advance(to: .seconds(100))
            #expect(update.frame?.index == 2 && update.delay == nil && !update.isFinished)
        }
    }

    @Test("No frame is skipped, however late the program looks", .capability("PLY-06"))
    func neverSkips() async throws {
        let player = try player(NumberedFramesCoder(count: 5))
        var driver = PlaybackDriver(player)
        #expect(await driver.show(at: .zero).frame?.index == 0)
        for step in 1...7 {
            let update = await driver.show(at: .seconds(10 * step))
            #expect(update.frame?.index == step % 5 && update.isNew)
        }
        #expect(player.completedLoops == 1)
    }

    @Test("Late frames are dropped where the program wants that", .capability("3.5"))
    func drops() async throws {
        let player = try player(NumberedFramesCoder(count: 5))
        player.skipsLateFrames = true
        var driver = PlaybackDriver(player)
        #expect(await driver.show(at: .zero).frame?.index == 0)
        #expect(await driver.show(at: .milliseconds(330)).frame?.index == 3)
        let update = await driver.show(at: .milliseconds(1_270))
        #expect(update.frame?.index == 2 && update.frame?.completedLoops == 2 && update.delay == .milliseconds(30))
    }

    @Test(
        "A player that pauses keeps its place; one that stops returns to the first frame",
        .capability("PLY-09", "AIV-07"))
    func controls() async throws {
        let player = try player(NumberedFramesCoder(count: 4))
        var driver = PlaybackDriver(player)
        await driver.show(3)
        player.pause()
        #expect(!player.isPlaying && player.advance(to: .seconds(50)).frame?.index == 2)
        player.play()
        #expect(await driver.show(at: .seconds(60)).frame?.index == 2)
        #expect(await driver.show(at: .seconds(60) + .milliseconds(100)).frame?.index == 3)
        player.stop()
        #expect(player.currentFrameIndex == 0 && player.completedLoops == 0 && !player.isPlaying)
        #expect(player.advance(to: .seconds(70)).frame?.index == 0)
    }

    @Test("Seeking shows any frame, playing or not; numbers that no frame has are ignored", .capability("PLY-09"))
    func seeks() async throws {
        let player = try player(NumberedFramesCoder(count: 9), mode: .reverse)
        player.pause()
        for index in [5, 0, 8, 3] {
            player.seek(toFrame: index, loop: 2)
            while player.advance(to: .zero).frame?.index != index { await Task.yield() }
            #expect(player.currentFrameIndex == index && player.completedLoops == 2)
        }
        player.seek(toFrame: 9)
        player.seek(toFrame: -1)
        #expect(player.currentFrameIndex == 3)
        player.seek(to: .milliseconds(250))
        while player.advance(to: .zero).frame?.index != 6 { await Task.yield() }
        player.play()
        var driver = PlaybackDriver(player)
        #expect(await driver.show(at: .zero).delay == .milliseconds(50))
    }

    @Test("A change of the mode keeps the frame, and goes on from there", .capability("PLY-04"))
    func changeOfMode() async throws {
        let player = try player(NumberedFramesCoder(count: 5))
        var driver = PlaybackDriver(player)
        await driver.show(3)
        player.mode = .reverse
        #expect(player.currentFrameIndex == 2)
        await driver.show(4)
        #expect(driver.shown == [0, 1, 2, 1, 0, 4, 3])
    }

    @Test("A sequence gives each frame at its time, on the player's clock", .capability("PLY-10", "PLY-13"))
    func frames() async throws {
        let clock = ManualClock()
        let player = AnimatedImagePlayer(
            try NumberedFramesCoder([.milliseconds(30), .milliseconds(500)], loopCount: 2).image(), clock: clock)
        let collected = Watched<[Int]>([])
        let task = Task {
            for await frame in player.frames { collected.update { $0.append(frame.index) } }
        }
        for (count, step) in [(1, 30), (2, 500), (3, 30), (4, 500)] {
            try await collected.wait { $0.count == count }
            try await clock.waitForSleepers(1)
            clock.advance(by: .milliseconds(step - 1))
            #expect(collected.value.count == count)
            clock.advance(by: .milliseconds(1))
        }
        await task.value
        #expect(collected.value == [0, 1, 0, 1] && player.completedLoops == 2)
    }

    @Test("A sequence waits while its player is paused, and ends in a canceled task", .capability("PLY-09"))
    func pausedFrames() async throws {
        let clock = ManualClock()
        let player = AnimatedImagePlayer(try NumberedFramesCoder(count: 2).image(), clock: clock)
        let collected = Watched<[Int]>([])
        let task = Task {
            for await frame in player.frames { collected.update { $0.append(frame.index) } }
        }
        try await collected.wait { $0.count == 1 }
        player.pause()
        player.seek(toFrame: 1)
        try await collected.wait { $0 == [0, 1] }
        task.cancel()
        await task.value
    }

    @Test("The first frame is shown at once, without decoding it again", .capability("PLY-11"))
    func poster() throws {
        let coder = NumberedFramesCoder(count: 3)
        let image = try coder.image()
        coder.state.withLock { $0.decodes = [:] }
        let update = AnimatedImagePlayer(image).advance(to: .zero)
        #expect(update.isNew && update.frame?.index == 0 && update.frame?.pixels === image.poster.pixels)
    }

    @Test("A still image is shown once, and ends", .capability("ANI-03", "ANI-04", "PLY-01", "AIV-01"))
    func still() async throws {
        let player = AnimatedImagePlayer(try NumberedFramesCoder(count: 1).image())
        var shown = 0
        for await _ in player.frames { shown += 1 }
        #expect(shown == 1 && !player.isPlaying)
    }

    @Test("A damaged frame is reported once, and the one before it stays", .capability("COD-44"))
    func damage() async throws {
        let coder = NumberedFramesCoder(count: 5)
        coder.state.withLock { $0.damaged = [2] }
        let player = try player(coder, loops: 2)
        let events = player.events
        var driver = PlaybackDriver(player)
        await driver.show(2)
        await driver.show(1)
        let held = try #require(player.currentFrame)
        #expect(held.index == 2 && held.isDamaged && held.pixels[0, 0].x == 1)
        await driver.show(100)
        #expect(driver.shown == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4])
        var reports: [Int] = []
        for await event in events {
            if case .damagedFrame(let index, let error) = event, error.code == .corruptImage { reports.append(index) }
            if case .end = event { break }
        }
        #expect(reports == [2])
    }

    @Test(
        "An animation that is damaged to its end is not decoded anew for each frame", .capability("3.8"),
        arguments: [PlaybackMode.normal, .reverse], [nil, 0, 60])
    func hopeless(mode: PlaybackMode, frames: Int?) async throws {
        let coder = NumberedFramesCoder(count: 400)
        coder.state.withLock { ($0.damaged, $0.endsAtDamage) = ([200], true) }
        let player = AnimatedImagePlayer(
            try coder.image(), mode: mode,
            maximumBufferSize: frames.map { ByteCount($0 * NumberedFramesCoder.frameBytes) })
        player.loopCount = 1
        var driver = PlaybackDriver(player)
        await driver.show(1_000)
        // Before the first frame that can be decoded, there is none to show.
        #expect(driver.shown == (mode == .normal ? Array(0..<400) : (0..<200).reversed()) && driver.isFinished)
        // Backward and without memory, each frame is decoded from the beginning.
        #expect(coder.decodes.values.reduce(0, +) < (mode == .reverse && frames == 0 ? 25_000 : 4_500))
    }

    @Test("A sequence sleeps until the next frame is due, whatever happens meanwhile", .capability("PLY-13"))
    func sleeps() async throws {
        let clock = CountingClock()
        let player = AnimatedImagePlayer(try NumberedFramesCoder(count: 30).image(), clock: clock)
        let collected = Watched(0)
        let task = Task {
            for await _ in player.frames { collected.update { $0 += 1 } }
        }
        try await collected.wait { $0 == 1 }
        for rate in [2.0, 3, 1] {
            try await clock.manual.waitForSleepers(1)
            player.rate = rate
        }
        // All frames are decoded by then, so that none wakes the sequence.
        while player.image.framePool().statistics.frames < 30 { await Task.yield() }
        for _ in 0..<1_000 { await Task.yield() }
        let sleeps = clock.sleeps.value
        for _ in 0..<2_000 { await Task.yield() }
        #expect(clock.sleeps.value <= sleeps + 2 && collected.value == 1)
        task.cancel()
        await task.value
    }

    @Test("Rates that are hardly above zero, and frames that no number of nanoseconds divides", .capability("PLY-03"))
    func oddRates() async throws {
        let player = try player(NumberedFramesCoder([Duration](repeating: .milliseconds(10), count: 7)))
        for rate in [Double.leastNormalMagnitude, 1e-20, 1e-9, 1e-6] {
            player.rate = rate
            while player.advance(to: .zero).frame == nil { await Task.yield() }
            #expect(player.advance(to: .zero).delay ?? .zero <= .days(1))
        }
        for rate in [7, 6, 0.1, 1e9] {
            player.rate = rate
            var driver = PlaybackDriver(player)
            await driver.show(40)
            #expect(driver.shown.count == 40)
        }
    }

    @Test("Seeking after the end shows the frame, and playing goes on from there", .capability("PLY-09"))
    func seekAfterEnd() async throws {
        let player = try player(NumberedFramesCoder(count: 5), loops: 1)
        var driver = PlaybackDriver(player)
        await driver.show(9)
        #expect(driver.isFinished)
        for loop in [nil, 99] {
            player.seek(toFrame: 2, loop: loop)
            while player.advance(to: .zero).frame?.index != 2 { await Task.yield() }
            #expect(!player.advance(to: .zero).isFinished)
        }
        player.play()
        driver = PlaybackDriver(player)
        await driver.show(9)
        #expect(driver.shown == [3, 4] && driver.isFinished)
    }

    @Test("Seeking beyond all time still plays", .capability("PLY-09"))
    func farSeek() async throws {
        let player = try player(NumberedFramesCoder([Duration](repeating: .seconds(3), count: 8)))
        for loop in [1 << 40, .max] {
            player.seek(toFrame: 5, loop: loop)
            var driver = PlaybackDriver(player)
            await driver.show(3)
            #expect(driver.shown == [5, 6, 7])
        }
        player.seek(to: .seconds(1_000_000_000_000))
        var driver = PlaybackDriver(player)
        await driver.show(4)
        #expect(driver.shown.count == 4)
    }

    @Test("A change of the loop count keeps the direction, and an end that it brings is told", .capability("PLY-02"))
    func changeOfLoops() async throws {
        let player = try player(NumberedFramesCoder(count: 3), mode: .bounce)
        var driver = PlaybackDriver(player)
        await driver.show(4)
        player.loopCount = 2
        player.mode = .bounce
        await driver.show(2)
        #expect(driver.shown == [0, 1, 2, 1, 0, 1])
        let other = try self.player(NumberedFramesCoder(count: 3))
        driver = PlaybackDriver(other)
        await driver.show(9)
        let events = other.events
        other.loopCount = 1
        await driver.show(9)
        #expect(driver.isFinished && !other.isPlaying)
        for await event in events { if case .end = event { break } }
        // The order may change after the end, too.
        other.mode = .reverse
        #expect(other.currentFrameIndex == 2)
        other.play()
        driver = PlaybackDriver(other)
        await driver.show(9)
        #expect(driver.shown == [1, 0] && driver.isFinished)
    }

    @Test(
        "Each frame passes the transformer, and players with its key share the results", .capability("AIV-09", "FPL-05")
    )
    func transformer() async throws {
        let coder = NumberedFramesCoder(count: 3)
        let image = try coder.image()
        let calls = Lock(0)
        let transformer = ClosureTransformer(key: "half") { source in
            calls.withLock { $0 += 1 }
            return try source.transformed(.resize(width: 2, height: 2, mode: .fill))
        }
        let transformed = try (0..<2).map { _ in
            try #require(try Image(image).transformed(transformer).animation)
        }
        #expect(transformed[0] === transformed[1])
        let players = transformed.map { AnimatedImagePlayer($0) }
        for player in players {
            var driver = PlaybackDriver(player)
            await driver.show(6)
            #expect(driver.shown == [0, 1, 2, 0, 1, 2])
            #expect(player.currentFrame?.pixels.size == PixelSize(width: 2, height: 2))
        }
        // The first frame of each image, and three frames for both players.
        #expect(calls.withLock { $0 } == 5)
    }
}
