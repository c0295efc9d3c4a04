import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeImages

@Suite("Frames that players share", .timeLimited)
struct AnimationFramePoolTests {
    @Test("Players of one animation share its frames, whatever frame each is at", .capability("FPL-01", "3.5"))
    func sharing() async throws {
        let coder = NumberedFramesCoder(count: 20)
        let image = try coder.image()
        let players = (0..<3).map { _ in AnimatedImagePlayer(image) }
        for (index, player) in players.enumerated() {
            player.seek(toFrame: index * 5)
            var driver = PlaybackDriver(player)
            await driver.show(40)
            #expect(driver.shown == (0..<40).map { ($0 + index * 5) % 20 })
        }
        // The first one is decoded as the poster, too.
        #expect(coder.decodes == Dictionary(uniqueKeysWithValues: (0..<20).map { ($0, $0 == 0 ? 2 : 1) }))
        #expect(coder.state.withLock { $0.decoders } == 2)
    }

    @Test(
        "A long animation keeps few frames, and decodes each once in a pass",
        .capability("PLY-07", "PLY-08", "FPL-02", "FPL-04"))
    func forward() async throws {
        let coder = NumberedFramesCoder(count: 300, loopCount: 1)
        let image = try coder.image()
        let player = AnimatedImagePlayer(
            image, maximumBufferSize: ByteCount(5 * NumberedFramesCoder.frameBytes))
        var driver = PlaybackDriver(player)
        await driver.show(1_000)
        #expect(driver.shown == Array(0..<300))
        #expect(coder.decodes.allSatisfy { $0.value == ($0.key == 0 ? 2 : 1) })
        #expect(image.framePool().statistics.mostFrames <= 6)
    }

    @Test("A lack of memory is no damage: the frames are there when it is over")
    func scarceMemory() async throws {
        let coder = NumberedFramesCoder(count: 40)
        let image = try coder.image()
        #expect(try await image.frame(at: 9)?.pixels[0, 0].x == 9)
        coder.state.withLock { $0.isMemoryScarce = true }
        for index in 10..<20 {
            await #expect(throws: ImageError.self) { try await image.frame(at: index) }
        }
        coder.state.withLock { $0.isMemoryScarce = false }
        for index in [10, 30] { #expect(try await image.frame(at: index)?.pixels[0, 0].x == UInt8(index)) }
    }

    @Test("A decoder that ends as if it were canceled, though its frame is wanted, has a damaged frame")
    func falseCancellation() async throws {
        let coder = NumberedFramesCoder(count: 20)
        let image = try coder.image()
        coder.state.withLock { $0.falselyCancelled = [5] }
        let error = await #expect(throws: ImageError.self) { try await image.frame(at: 5) }
        #expect(error?.reason == "the session of the decoder ended")
        #expect(try await image.frame(at: 6)?.pixels[0, 0].x == 6)
        await #expect(throws: ImageError.self) { try await image.preload() }
    }

    @Test("Another pass is no seek, for which decoders keep copies of the canvas", .capability("FPL-04"))
    func passes() throws {
        let coder = NumberedFramesCoder(count: 20)
        var reader = FrameReader(try coder.image().contents, context: ProcessingContext())
        for index in 0..<60 { _ = try reader.frame(at: index % 20) }
        #expect(coder.state.withLock { $0.seeks } == 0)
        _ = try reader.frame(at: 7)
        #expect(coder.state.withLock { $0.seeks } == 1)
    }

    @Test(
        "Backward, no frame is decoded more than twice in a pass, and few pictures are kept",
        .capability("PLY-04", "PLY-07", "FPL-02", "D16", "3.5"),
        arguments: [PlaybackMode.reverse, .bounce, .reversedBounce])
    func backward(mode: PlaybackMode) async throws {
        let coder = NumberedFramesCoder(count: 500)
        let image = try coder.image()
        let player = AnimatedImagePlayer(
            image, mode: mode, maximumBufferSize: ByteCount(47 * NumberedFramesCoder.frameBytes))
        let steps = mode.stepsPerPass(frameCount: 500)
        var driver = PlaybackDriver(player)
        for pass in 1...3 {
            await driver.show(steps)
            // Frames of the next pass may be decoded already; see below for the exact numbers.
            #expect(coder.mostDecodes <= 2 * pass + 1, "pass \(pass)")
        }
        let timeline = AnimationTimeline(durations: image.frameDurations, mode: mode)
        #expect(driver.shown == (0..<3 * steps).map { timeline.position(ofStep: $0).frame })
        let (frames, copies) = (image.framePool().statistics.mostFrames, coder.state.withLock { $0.copies })
        #expect(frames + copies <= 48, "\(frames) frames and \(copies) copies of the canvas")
    }

    @Test(
        "A frame is decoded once for each time that it is shown, and once on the way to the last frame",
        .capability("PLY-04", "FPL-02", "3.5"),
        arguments: [PlaybackMode.reverse, .bounce, .reversedBounce], 1...3)
    func decodesOfPasses(mode: PlaybackMode, passes: Int) async throws {
        let coder = NumberedFramesCoder(count: 500, loopCount: passes)
        let image = try coder.image()
        // Without the poster, which has a decoder of its own.
        coder.state.withLock { $0.decodes = [:] }
        let player = AnimatedImagePlayer(
            image, mode: mode, maximumBufferSize: ByteCount(47 * NumberedFramesCoder.frameBytes))
        var driver = PlaybackDriver(player)
        await driver.show(.max)
        // Bounce shows each frame twice in a pass, and the first time on the way.
        let most = mode == .reverse ? passes + 1 : mode == .bounce ? 2 * passes : 2 * passes + 1
        #expect(driver.isFinished && coder.mostDecodes == most)
    }

    @Test(
        "The buffer follows the memory that a program allows",
        .capability("PLY-07"),
        arguments: [
            // Frames, megabytes of each, the allowed megabytes, and the numbers of frames that are kept.
            (20, 1, nil, PlaybackMode.normal, 20), (500, 8, nil, .normal, 8), (500, 50, nil, .normal, 3),
            (500, 1, nil, .normal, 10), (500, 8, 1, .normal, 1), (500, 8, 100, .normal, 12),
            (20, 8, 1_000, .normal, 20),
            (500, 8, nil, .reverse, 23), (20, 1, nil, .bounce, 20), (500, 8, 80, .bounce, 5), (500, 8, 0, .bounce, 3),
        ] as [(Int, Int, Int?, PlaybackMode, Int)])
    func buffers(count: Int, size: Int, maximum: Int?, mode: PlaybackMode, capacity: Int) {
        let buffer = FrameBuffer(
            frameCount: count, frameBytes: size << 20, canvasBytes: size << 20, mode: mode,
            maximum: maximum.map { ByteCount($0 << 20) })
        #expect(buffer.capacity == capacity)
        #expect(buffer.keepsAll == (capacity == count))
        #expect((buffer.segment != nil) == (mode.goesBack && !buffer.keepsAll))
        if let segment = buffer.segment, let interval = buffer.seekPointInterval {
            #expect(interval % segment == 0 && buffer.lookahead == 2 * segment)
            let pictures = buffer.capacity + count / interval
            if let maximum { #expect(pictures <= max(4, maximum / size)) } else { #expect(pictures <= 47) }
        }
    }

    @Test(
        "Copies of a canvas that is larger than the frames count with their own size", .capability("PLY-07", "3.1"),
        arguments: [(2_000, 46_000, 33 << 20), (10_000, 40_000, 120 << 20), (500, 8 << 20, 30 << 20), (99, 1 << 20, 1)])
    func canvasCopies(count: Int, frameBytes: Int, canvasBytes: Int) throws {
        let buffer = FrameBuffer(
            frameCount: count, frameBytes: frameBytes, canvasBytes: canvasBytes, mode: .reverse, maximum: nil)
        let (segment, interval) = (try #require(buffer.segment), try #require(buffer.seekPointInterval))
        let bytes = buffer.capacity * frameBytes + (count - 1) / interval * canvasBytes
        #expect(bytes <= 512 << 20 && segment >= 1 && interval % segment == 0)
    }

    @Test("Players with segments of different lengths don't take each other's frames away", .capability("FPL-02"))
    func differentSegments() async throws {
        let image = try NumberedFramesCoder(count: 500).image()
        func player(_ frames: Int) -> AnimatedImagePlayer {
            AnimatedImagePlayer(
                image, mode: .reverse, maximumBufferSize: ByteCount(frames * NumberedFramesCoder.frameBytes))
        }
        let idle = player(22)
        idle.pause()
        var first = PlaybackDriver(idle)
        while idle.advance(to: .zero).frame == nil { await Task.yield() }
        let moving = player(42)
        moving.seek(toFrame: 479)
        var second = PlaybackDriver(moving)
        await second.show(479)
        #expect(second.shown == (1...479).reversed())
        idle.play()
        await first.show(30)
        #expect(first.shown == (469..<499).reversed())
    }

    @Test("Copies of the canvas go with the last player that plays backward, or once it turns", .capability("3.19"))
    func copies() async throws {
        let coder = NumberedFramesCoder(count: 200)
        let image = try coder.image()
        var player: AnimatedImagePlayer? = AnimatedImagePlayer(
            image, mode: .reverse, maximumBufferSize: ByteCount(40 * NumberedFramesCoder.frameBytes))
        if let player {
            var driver = PlaybackDriver(player)
            await driver.show(30)
            #expect(coder.state.withLock { $0.decodersWithCopies } == 1)
            player.mode = .normal
            await driver.show(60)
            #expect(coder.state.withLock { $0.decodersWithCopies } == 0)
            player.mode = .bounce
            await driver.show(60)
        }
        player = nil
        while coder.state.withLock({ $0.decodersWithCopies }) > 0 { await Task.yield() }
        _ = player
    }

    @Test("A seek that nobody waits for any longer ends for the sake of others", .capability("3.5"))
    func overtakenSeek() async throws {
        let coder = NumberedFramesCoder(count: 1_000_000)
        let player = AnimatedImagePlayer(try coder.image(), maximumBufferSize: ByteCount(1))
        player.pause()
        for _ in 0..<10 {
            player.seek(toFrame: 999_999)
            _ = player.advance(to: .zero)
            player.seek(toFrame: 5)
            while player.advance(to: .zero).frame?.index != 5 { await Task.yield() }
        }
        #expect(coder.decodes.values.reduce(0, +) < 5_000_000)
    }

    @Test("A lowered buffer holds at once; released players leave nothing behind", .capability("PLY-07", "3.19"))
    func release() async throws {
        let coder = NumberedFramesCoder(count: 50)
        let budget = DecodeBudget(limit: .megabytes(100))
        let image = try coder.image(budget: budget)
        var player: AnimatedImagePlayer? = AnimatedImagePlayer(image)
        if let player {
            var driver = PlaybackDriver(player)
            await driver.show(60)
            #expect(image.framePool().statistics.frames == 50)
            #expect(budget.statistics.bodyBytes == 50 * NumberedFramesCoder.frameBytes)
            player.maximumBufferSize = ByteCount(3 * NumberedFramesCoder.frameBytes)
            #expect(image.framePool().statistics.frames <= 3)
        }
        player = nil
        while image.framePool().statistics.frames > 0 { await Task.yield() }
        #expect(budget.statistics.bodyBytes == 0)
        _ = player
    }

    @Test("What the search for damage decodes again counts once", .capability("3.1"))
    func damageInBudget() async throws {
        let coder = NumberedFramesCoder(count: 60, loopCount: 1)
        coder.state.withLock { ($0.damaged, $0.endsAtDamage) = ([40], true) }
        let budget = DecodeBudget(limit: .megabytes(100))
        var image: AnimatedImage? = try coder.image(budget: budget)
        // A player has room for all; frames behind the damage make the search come back to what it keeps.
        var player = image.map { AnimatedImagePlayer($0) }
        let pool = try #require(image?.framePool())
        while pool.statistics.frames < 40 { await Task.yield() }
        for index in (41..<60).reversed() { _ = try? await image?.frame(at: index) }
        #expect(budget.statistics.bodyBytes == pool.statistics.frames * NumberedFramesCoder.frameBytes)
        player = nil
        image = nil
        _ = (player, image)
    }

    @Test("When memory is scarce, all frames go but the next ones; playing goes on", .capability("FPL-03"))
    func pressure() async throws {
        let coder = NumberedFramesCoder(count: 40)
        let pressure = MemoryPressure()
        let image = try coder.image(pressure: pressure)
        let player = AnimatedImagePlayer(image)
        var driver = PlaybackDriver(player)
        await driver.show(40)
        while image.framePool().statistics.frames < 40 { await Task.yield() }
        pressure.report(.warning)
        #expect(image.framePool().statistics.frames <= 2)
        await driver.show(40)
        #expect(driver.shown == (0..<80).map { $0 % 40 })
    }

    @Test("A cleared buffer is filled again", .capability("PLY-09", "AIV-06"))
    func clear() async throws {
        let coder = NumberedFramesCoder(count: 10)
        let player = AnimatedImagePlayer(try coder.image())
        var driver = PlaybackDriver(player)
        await driver.show(10)
        player.clearFrameBuffer()
        await driver.show(10)
        #expect(driver.shown == (0..<20).map { $0 % 10 })
    }

    @Test("A long way to a frame that nobody waits for any longer is not gone", .capability("3.5"))
    func cancelled() async throws {
        let coder = NumberedFramesCoder(count: 100_000)
        let image = try coder.image()
        for _ in 0..<20 {
            let task = Task { try await image.frame(at: 99_999) }
            while image.framePool().statistics.decodedFrames > 0 { await Task.yield() }
            task.cancel()
            let error = await #expect(throws: ImageError.self) { try await task.value }
            #expect(error?.isCancellation == true)
        }
    }

    @Test("Of animations that nobody plays any longer, few decoders stay open", .capability("ANI-05"))
    func idleDecoders() async throws {
        let coder = NumberedFramesCoder(count: 3)
        let images = try (0..<20).map { _ in try coder.image() }
        for image in images {
            let player = AnimatedImagePlayer(image)
            var driver = PlaybackDriver(player)
            await driver.show(2)
        }
        // Whoever decodes last closes its decoder when it has ended.
        while coder.openDecoders > IdleAnimations.limit { await Task.yield() }
        #expect(try await images[19].frame(at: 1) != nil)
        #expect(try await images[0].frame(at: 2) != nil, "the others are opened again")
    }

    @Test("A player whose time stands still decodes the frame that is due and the next, and the others once it plays")
    func idle() async throws {
        let coder = NumberedFramesCoder(count: 101)
        let image = try coder.image()
        let pool = image.framePool()
        let player = AnimatedImagePlayer(image, isPlaying: false)
        func check(_ frames: ClosedRange<Int>, _ comment: Comment) async throws {
            for _ in 0..<10 {
                for frame in frames { _ = try await pool.waitForFrame(at: frame) }
            }
            #expect(pool.statistics.frames == frames.count, comment)
        }
        try await check(0...1, "paused from the beginning")
        player.seek(toFrame: 50)
        player.clearFrameBuffer()
        try await check(50...51, "a seek")
        player.rate = 0
        player.play()
        player.seek(toFrame: 0)
        player.clearFrameBuffer()
        try await check(0...1, "no speed")
        player.rate = 1
        var driver = PlaybackDriver(player)
        await driver.show(101)
        #expect(driver.shown == Array(0...100))
        player.stop()
        player.clearFrameBuffer()
        try await check(0...1, "stopped")
    }

    @Test("Players that come, go, and change at random show the right frames, and end", arguments: 0..<20)
    func random(seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed))
        let coder = NumberedFramesCoder(count: Int.random(in: 2...60, using: &random))
        let image = try coder.image()
        await withTaskGroup { group in
            for _ in 0..<4 {
                let seed = random.next()
                group.addTask { await Self.play(image, seed: seed) }
            }
        }
        while image.framePool().statistics.frames > 0 { await Task.yield() }
    }

    private static func play(_ image: AnimatedImage, seed: UInt64) async {
        var random = SeededRandom(seed: seed)
        let player = AnimatedImagePlayer(image)
        var driver = PlaybackDriver(player)
        for _ in 0..<20 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: player.mode = PlaybackMode.allCases.randomElement(using: &random) ?? .normal
            case 1:
                player.maximumBufferSize = ByteCount(
                    Int.random(in: 0..<80, using: &random) * NumberedFramesCoder.frameBytes)
            case 2: player.seek(toFrame: Int.random(in: 0..<image.frameCount, using: &random))
            case 3: player.skipsLateFrames = Bool.random(using: &random)
            case 4: player.clearFrameBuffer()
            default: break
            }
            await driver.show(Int.random(in: 1..<30, using: &random))
            let frame = player.currentFrame
            #expect(frame?.pixels[0, 0].x == frame.map { UInt8($0.index) })
        }
    }
}
