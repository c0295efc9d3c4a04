import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@Suite("Samples that play animations", .timeLimited)
struct AnimationSnippets {
    private let bench: SnippetBench

    init() throws { bench = try SnippetBench() }

    private func animation() throws -> URL {
        let frames = try [20, 30, 40].map { width in
            let picture = try bench.picture(width, 20).transformed(.resize(width: 20, height: 20, mode: .fill))
            return ImageFrame(pixels: picture.pixels, duration: .milliseconds(20))
        }
        let image = try #require(Image(frames: frames))
        return try bench.folder.write(try image.encoded(as: .gif), to: "moving.gif")
    }

    @Test("An animation is loaded and played", .capability("ANI-01", "PLY-10"))
    func play() async throws {
        let (manager, url) = (try bench.manager(), try animation())
        // snippet: animated-image
        let image = try await manager.image(for: url)
        guard let animated = image.animation else { return show(image.pixels) }
        print(animated.frameCount, animated.duration, animated.loopCount)
        // snippet.end
        #expect(animated.frameCount == 3 && animated.loopCount == 0)
        // snippet: play
        let player = AnimatedImagePlayer(animated)
        player.mode = .bounce
        player.rate = 1.5
        // snippet.hide
        player.rate = 100
        // snippet.show
        player.loopCount = 3
        for await frame in player.frames { show(frame.pixels) }
        // snippet.end
        #expect(player.completedLoops == 3)
        let timeOfRefresh = Duration.seconds(1)
        player.play()
        // snippet: advance
        let update = player.advance(to: timeOfRefresh)
        if update.isNew, let frame = update.frame { show(frame.pixels) }
        // snippet.end
        #expect(update.frame?.index == 0 || update.frame?.index == 1)
    }

    @Test("A preview has the animation that is played while it arrives", .capability("AIV-05"))
    func arriving() async throws {
        let (manager, url) = (try bench.manager(), try animation())
        // snippet: preview-animation
        var player: AnimatedImagePlayer?
        let task = manager.task(for: ImageRequest(url, isProgressive: true))
        for await case .preview(let preview) in task.events where player == nil {
            player = preview.animation.map { AnimatedImagePlayer($0) }
        }
        // snippet.end
        // A file may be there before its first preview.
        #expect(player?.image.isArriving != true)
    }

    @Test("The comments' samples of animations")
    func comments() async throws {
        let (manager, url) = (try bench.manager(), try animation())
        let animation = try #require(try await manager.image(for: url).animation)
        do {
            // snippet: play-comment
            let image = try await manager.image(for: url)
            if let animation = image.animation {
                let player = AnimatedImagePlayer(animation)
                // snippet.hide
                player.loopCount = 1
                // snippet.show
                for await frame in player.frames { show(frame.pixels) }
            }
            // snippet.end
        }
        do {
            // snippet: player-comment
            let player = AnimatedImagePlayer(animation)
            player.mode = .bounce
            // snippet.hide
            player.loopCount = 1
            // snippet.show
            for await frame in player.frames { show(frame.pixels) }
            // snippet.end
        }
    }
}
