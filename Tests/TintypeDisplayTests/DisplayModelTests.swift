import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeDisplay
@testable import TintypeImages
@testable import TintypeLoading

/// A server whose pictures change between still and moving. A picture of version *n* is *n* pixels wide.
private final class ChangingServer: Sendable {
    struct Picture {
        var version = 1
        /// The number of frames of each version, from 1 on.
        var frames = [1]
    }

    private let pictures = Lock<[URL: Picture]>([:])

    func picture(_ url: URL) -> Picture { pictures.withLock { $0[url] ?? Picture() } }

    func change(_ url: URL, frames: Int) {
        pictures.withLock { pictures in
            pictures[url, default: Picture()].version += 1
            pictures[url]?.frames.append(frames)
        }
    }

    func answer(_ url: URL) -> LoadedData {
        let picture = picture(url)
        let bytes = MovieCoder.bytes(frames: picture.frames[picture.version - 1], side: picture.version)
        return LoadedData(data: bytes, url: url)
    }
}

@MainActor
@Suite("Displays beside changes and removals, at random", .timeLimited)
struct DisplayModelTests {
    private static let urls = (0..<3).map { URL(string: "test:\($0)")! }

    /// A display, and what it was asked for last.
    private struct Viewer {
        let display: RecordingDisplay
        var url: URL?
        var load: DisplayLoad?
        /// The oldest version that may be shown: that of the last removal before the request.
        var oldest = 1
        var isTransformed = false
        var transformsFrames = false
    }

    /// Doubles the size of a picture.
    private static let doubled = ClosureTransformer(key: "doubled") { image in
        try image.resized(to: PixelSize(width: 2 * image.size.width, height: 2 * image.size.height))
    }

    @Test(
        "A display shows the last picture that it was asked for, still or moving as the server gave it, and nothing that was removed",
        .capability("CTX-22", "OPT-09", "VEW-11", "3.7"), arguments: 0..<60 as Range<UInt64>)
    func random(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let server = ChangingServer()
        let loader = GatedLoader { .success(server.answer($0)) }
        let manager = ImageManager(cache: ImageCache(), loader: loader, coders: ImageCoders([MovieCoder()]))
        var viewers = (0..<2).map { _ in Viewer(display: RecordingDisplay(manager)) }
        var removed: [URL: Int] = [:]
        for step in 0..<60 {
            let url = Self.urls[Int.random(in: 0..<3, using: &random)]
            let index = Int.random(in: 0..<2, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0...4: ask(&viewers[index], for: url, removed[url] ?? 1, using: &random)
            case 5: server.change(url, frames: Bool.random(using: &random) ? 1 : 3)
            case 6:
                try await manager.removeAll(of: url)
                removed[url] = server.picture(url).version
            case 7: viewers[index].display.isAnimating.toggle()
            default: for viewer in viewers { await check(viewer, server, "seed \(seed), step \(step)") }
            }
        }
        for viewer in viewers { await check(viewer, server, "seed \(seed), the end") }
    }

    private func ask(_ viewer: inout Viewer, for url: URL, _ oldest: Int, using random: inout SeededRandom) {
        var request = ImageRequest(url)
        viewer.isTransformed = Bool.random(using: &random)
        viewer.transformsFrames = Bool.random(using: &random)
        if viewer.isTransformed { request.transformer = Self.doubled }
        request.transformsAnimatedImages = viewer.transformsFrames
        (viewer.url, viewer.oldest) = (url, oldest)
        viewer.load = viewer.display.setImage(request)
    }

    /// Compares what a display shows, once its load has ended, with what the server has given.
    private func check(_ viewer: Viewer, _ server: ChangingServer, _ comment: Comment) async {
        guard let load = viewer.load, let url = viewer.url else { return }
        guard case .success(let result) = await load.result else {
            Issue.record(comment)
            return
        }
        let (image, display) = (result.image, viewer.display)
        #expect(display.shown[.image]?.image.isIdentical(to: image) == true, comment)
        let picture = server.picture(url)
        let isMoving = image.isAnimated
        #expect(image.isTransformed == (viewer.isTransformed && (!isMoving || viewer.transformsFrames)), comment)
        let version = image.isTransformed ? image.size.width / 2 : image.size.width
        #expect((viewer.oldest...picture.version).contains(version), comment)
        #expect(image.frames.count == picture.frames[version - 1], comment)
        // The frames are all transformed, or none is.
        #expect(image.frames.allSatisfy { $0.pixels.size == image.size }, comment)
        if let playing = display.playing[.image] { #expect(playing === image.animation, comment) }
    }
}
