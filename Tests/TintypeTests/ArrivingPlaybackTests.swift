import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

/// A display that plays animations, and records what it is told to.
@MainActor private final class PlayingDisplay: ImageDisplay {
    private(set) lazy var imageBinding = ImageBinding(self, manager: manager)
    private let manager: ImageManager
    private(set) var log: [String] = []
    private(set) var played: [AnimatedImage] = []
    private(set) var player: AnimatedImagePlayer?
    var playsAnimations = true

    init(_ manager: ImageManager) { self.manager = manager }

    func show(_ content: DisplayedImage?, in slot: ImageSlot) {
        player = nil
        log.append(content.map { "\($0.role)" } ?? "nothing")
    }

    func playsAnimations(in slot: ImageSlot) -> Bool { playsAnimations }

    func play(_ animation: AnimatedImage, in slot: ImageSlot) {
        played.append(animation)
        player = AnimatedImagePlayer(animation)
        log.append("plays")
    }

    func waitForPlayer() async { while player == nil { await Task.yield() } }

    /// Advances the player until a frame is shown.
    func wait(for index: Int, at time: Duration) async {
        while player?.advance(to: time).frame?.index != index { await Task.yield() }
    }
}

/// Sends the first half of a file, and the rest, or an error, when the gate is open.
private final class HalvesLoader: ImageLoading {
    private let files: [URL: Data]
    private let error: ImageError?
    private let gate: OriginGate

    init(_ files: [URL: Data], _ gate: OriginGate, error: ImageError? = nil) {
        (self.files, self.gate, self.error) = (files, gate, error)
    }

    func canLoad(_ url: URL) -> Bool { true }

    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        guard let data = files[request.url] else {
            throw ImageError(.badStatus, stage: .load, reason: "HTTP 404", statusCode: 404)
        }
        let half = data.count / 2
        request.receive(LoadProgress(chunk: data.prefix(half), receivedBytes: half, expectedBytes: data.count))
        do { try await gate.pass() } catch {
            throw ImageError(.cancelled, stage: .load, reason: "the load was canceled")
        }
        if let error { throw error }
        request.receive(
            LoadProgress(chunk: data.dropFirst(half), receivedBytes: data.count, expectedBytes: data.count))
        return LoadedData(data: data, url: request.url)
    }
}

@MainActor
@Suite("Displays of animations that arrive", .timeLimited)
struct ArrivingPlaybackTests {
    private static let frameCount = 6
    private let url = URL(string: "test:moving")!
    private let other = URL(string: "test:other")!
    private let gate = OriginGate()

    private static func animation(_ format: ImageFormat) throws -> Data {
        let frames = try (0..<frameCount).map { index in
            var pixels = try MutablePixelBuffer(size: PixelSize(width: 48, height: 32))
            pixels.withUnsafeMutableBytes { bytes in
                for offset in bytes.indices {
                    bytes[offset] = offset % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: offset * (index + 3) % 251)
                }
            }
            return ImageFrame(pixels: pixels.freeze(), duration: .milliseconds(40))
        }
        var options = EncodeOptions()
        options.lossless = true
        return try #require(Image(frames: frames)).with { $0.hasAlpha = false }.encoded(as: format, options: options)
    }

    /// A request whose previews are shown.
    private func request(_ url: URL) -> ImageRequest { ImageRequest(url, isProgressive: true) }

    private func manager(_ files: [URL: Data], error: ImageError? = nil) -> ImageManager {
        var configuration = ImageManager.Configuration()
        configuration.previewInterval = .zero
        return ImageManager(
            cache: ImageCache(), loader: HalvesLoader(files, gate, error: error), coders: ImageCoders.default,
            configuration: configuration)
    }

    @Test(
        "A display plays the frames that are there, goes on with those that arrive, and isn't told to begin again",
        .capability("AIV-04", "AIV-05", "D17", "VEW-11"), arguments: [ImageFormat.gif, .png, .webp])
    func playing(format: ImageFormat) async throws {
        let data = try Self.animation(format)
        let whole = try Image(data: data)
        let display = PlayingDisplay(manager([url: data]))
        let load = display.setImage(request(url), transition: .crossDissolve())
        await display.waitForPlayer()
        let player = try #require(display.player)
        let animation = player.image
        #expect(animation.isArriving && (2..<Self.frameCount).contains(animation.frameCount) && load.end == nil)
        for index in 0..<animation.frameCount {
            await display.wait(for: index, at: .milliseconds(40 * index))
            #expect(player.currentFrame?.pixels == whole.frames[index].pixels)
        }
        let last = animation.frameCount - 1
        #expect(player.advance(to: .seconds(9)).isWaiting)
        gate.open()
        let result = try await load.result.get()
        #expect(result.source == .network && display.log.count { $0 == "plays" } == 1)
        #expect(!animation.isArriving && animation.interruption == nil && animation.data == data)
        // The bytes are in memory once.
        #expect(result.data?.withUnsafeBytes(\.baseAddress) == animation.data.withUnsafeBytes(\.baseAddress))
        // The player is the same one, at the same place.
        #expect(display.player === player && player.currentFrameIndex == last && !display.log.contains("image"))
        for index in last + 1..<Self.frameCount {
            await display.wait(for: index, at: .seconds(9) + .milliseconds(40 * (index - last)))
            #expect(player.currentFrame?.pixels == whole.frames[index].pixels)
        }
        await display.wait(for: 0, at: .seconds(9) + .milliseconds(40 * (Self.frameCount - last)))
        // Later loads find the same object.
        let manager = display.imageBinding.manager
        #expect(result.image.animation === animation)
        #expect(try await manager.image(for: url).animation === animation)
    }

    @Test("A display that joins while bytes arrive plays the same animation", .capability("AIV-05", "FPL-01"))
    func lateDisplay() async throws {
        let manager = manager([url: try Self.animation(.gif)])
        let (first, second) = (PlayingDisplay(manager), PlayingDisplay(manager))
        first.setImage(request(url))
        await first.waitForPlayer()
        await first.wait(for: 0, at: .zero)
        await first.wait(for: 1, at: .milliseconds(40))
        let load = second.setImage(request(url))
        await second.waitForPlayer()
        #expect(second.player?.image === first.player?.image)
        // The first one leaves, and the load goes on.
        first.cancelImageLoad()
        gate.open()
        _ = try await load.result.get()
        #expect(second.player?.image.interruption == nil && second.player?.image.frameCount == Self.frameCount)
        await first.wait(for: 2, at: .milliseconds(80))
    }

    @Test("A canceled load has one end, and the frames that are there go on", .capability("AIV-05", "VEW-12"))
    func cancelled() async throws {
        let display = PlayingDisplay(manager([url: try Self.animation(.gif)]))
        var ends = 0
        let load = display.setImage(request(url)) { if case .finished = $0 { ends += 1 } }
        await display.waitForPlayer()
        let player = try #require(display.player)
        let events = player.events
        load.cancel()
        #expect(await load.result.failure?.code == .cancelled)
        for await event in events {
            guard case .interrupted(let error) = event else { continue }
            #expect(error.code == .cancelled)
            break
        }
        let count = player.image.frameCount
        for index in 0...count {
            await display.wait(for: index % count, at: .milliseconds(40 * index))
        }
        #expect(ends == 1 && display.player === player)
    }

    @Test("The animation of a URL that is replaced isn't played any longer", .capability("AIV-05", "3.2"))
    func replaced() async throws {
        let still = try Image(pixels: MutablePixelBuffer(size: PixelSize(width: 5, height: 5), cleared: true).freeze())
            .encoded(as: .png)
        let display = PlayingDisplay(manager([url: try Self.animation(.webp), other: still]))
        let old = display.setImage(request(url))
        await display.waitForPlayer()
        let load = display.setImage(request(other))
        #expect(await old.result.failure?.code == .cancelled)
        // The transfer that is canceled may pass, too.
        gate.openForGood()
        #expect(try await load.result.get().image.size.width == 5)
        #expect(display.player == nil && display.log.last == "image" && display.played.count == 1)
    }

    @Test("A load whose animation plays has its image, also if the end of its transition asks for another one")
    func replacedAtEnd() async throws {
        let display = PlayingDisplay(manager([url: try Self.animation(.gif)]))
        var transition = ImageTransition.crossDissolve()
        transition.completion = { [display, other] _ in display.setImage(other) }
        let load = display.setImage(request(url), transition: transition)
        await display.waitForPlayer()
        gate.open()
        #expect(try await load.result.get().image.isAnimated)
        #expect(display.imageURL() == other)
    }

    @Test("A connection that breaks is one error, and the frames that are there go on", .capability("AIV-05", "3.8"))
    func broken() async throws {
        let error = ImageError(.connectionLost, stage: .load, reason: "the server hung up")
        let display = PlayingDisplay(manager([url: try Self.animation(.gif)], error: error))
        var ends = 0
        let load = display.setImage(request(url)) { if case .finished = $0 { ends += 1 } }
        await display.waitForPlayer()
        let player = try #require(display.player)
        gate.open()
        #expect(await load.result.failure?.code == .connectionLost)
        #expect(player.image.interruption?.code == .connectionLost)
        let count = player.image.frameCount
        for index in 0...count { await display.wait(for: index % count, at: .milliseconds(40 * index)) }
        #expect(ends == 1 && display.player === player)
        // An image that tells of the failure takes its place.
        let failure = try Image(pixels: MutablePixelBuffer(size: PixelSize(width: 5, height: 5)).freeze())
        let second = display.setImage(request(other), failureImage: failure)
        #expect(await second.result.failure != nil && display.log.last == "failure" && display.player == nil)
    }

    @Test(
        "Of a file that is cut off, the frames that are there are the image, and go on", .capability("AIV-05", "3.8"),
        arguments: [ImageFormat.gif, .png, .webp])
    func cutOff(format: ImageFormat) async throws {
        let data = try Self.animation(format)
        let display = PlayingDisplay(manager([url: data.prefix(data.count * 4 / 5)]))
        let load = display.setImage(request(url))
        await display.waitForPlayer()
        let player = try #require(display.player)
        gate.open()
        let image = try await load.result.get().image
        #expect(image.isPartial && image.animation === player.image)
        #expect(player.image.interruption?.code == .truncatedImage)
        let count = player.image.frameCount
        #expect((2..<Self.frameCount).contains(count))
        for index in 0...count { await display.wait(for: index % count, at: .milliseconds(40 * index)) }
        #expect(display.player === player && display.played.count == 1)
    }

    @Test(
        "A request without previews, or a display without animations, plays nothing before the end",
        .capability("AIV-04"))
    func disabled() async throws {
        let data = try Self.animation(.gif)
        // One transfer each, because the bytes of one that begins without previews aren't decoded before its end.
        let (display, still) = (PlayingDisplay(manager([url: data])), PlayingDisplay(manager([url: data])))
        still.playsAnimations = false
        var previews = 0
        let first = display.setImage(url)
        let second = still.setImage(request(url)) { if case .preview = $0 { previews += 1 } }
        try await gate.waitForArrivals(2)
        while previews == 0 { await Task.yield() }
        gate.openForGood()
        _ = await (first.result, second.result)
        #expect(still.played.isEmpty)
        await display.waitForPlayer()
        #expect(display.played.allSatisfy { !$0.isArriving } && display.log == ["nothing", "image", "plays"])
    }

    #if HTTP
    @Test(
        "A download is played while it arrives, and its bytes are held once, whether its length is known or not",
        .capability("AIV-05", "3.1"), arguments: [true, false])
    func download(isLengthKnown: Bool) async throws {
        let data = try Self.animation(.gif)
        let (half, gate) = (data.count / 2, gate)
        let server = try await OriginServer.start { _ in
            var response = OriginResponse(chunks: [data.prefix(half), data.dropFirst(half)], gate: gate)
            if isLengthKnown { response.framing = .contentLength(nil) }
            return response
        }
        var configuration = ImageManager.Configuration()
        configuration.previewInterval = .zero
        let manager = ImageManager(
            cache: ImageCache(), loader: ImageDownloader(), coders: ImageCoders.default,
            configuration: configuration)
        let display = PlayingDisplay(manager)
        gate.open()
        let load = display.setImage(request(server.url("/moving.gif")))
        await display.waitForPlayer()
        let animation = try #require(display.player?.image)
        #expect(animation.isArriving && animation.data.count == half)
        gate.open()
        let result = try await load.result.get()
        #expect(!animation.isArriving && animation.frameCount == Self.frameCount && display.played.count == 1)
        #expect(result.data?.withUnsafeBytes(\.baseAddress) == animation.data.withUnsafeBytes(\.baseAddress))
    }
    #endif
}
