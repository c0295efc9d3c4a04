import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

// snippet: display
final class Portrait: ImageDisplay {
    private(set) lazy var imageBinding = ImageBinding(self)
    // snippet.hide
    var pixels: PixelBuffer?

    func adapted(_ request: ImageRequest, for slot: ImageSlot) -> ImageRequest {
        var request = request
        if side != nil { request.thumbnailSize = side }
        return request
    }

    var side: PixelSize?
    // snippet.show

    func show(_ content: DisplayedImage?, in slot: ImageSlot) {
        draw(content?.image.pixels)
    }
    // snippet.hide
    func draw(_ pixels: PixelBuffer?) { self.pixels = pixels }

    func play(_ animation: AnimatedImage, in slot: ImageSlot) { played = animation }

    var played: AnimatedImage?
    // snippet.show
}
// snippet.end

@MainActor
@Suite("Samples that show images", .timeLimited)
struct DisplaySnippets {
    @Test("A view of any toolkit shows an image", .capability("VEW-24"))
    func display() async throws {
        let bench = try SnippetBench()
        let file = try bench.folder.write(try bench.picture(20, 10).encoded(as: .png), to: "portrait.png")
        let portrait = Portrait()
        let silhouette = try bench.picture(5, 5)
        let load = portrait.setImage(file, placeholder: silhouette)
        #expect(portrait.pixels?.size.width == 5)
        _ = try await load.result.get()
        #expect(portrait.pixels?.size.width == 20)
    }

    @Test("A program shows an image that it already has", .capability("VEW-10"))
    func ownImage() async throws {
        let bench = try SnippetBench()
        let picture = Portrait()
        let load = picture.setImage(try bench.file())
        let frames = try [20, 30].map { width in
            ImageFrame(
                pixels: try bench.picture(width, 20).resized(to: PixelSize(width: 20, height: 20)).pixels,
                duration: .milliseconds(20))
        }
        let image = try #require(Image(frames: frames))
        // As a widget does when a program shows something.
        picture.imageBinding.prepareForReuse()
        // snippet: show-own
        picture.show(DisplayedImage(image), in: .image)
        if let animation = image.animation { picture.play(animation, in: .image) }
        // snippet.end
        _ = await load.result
        #expect(picture.pixels === image.pixels && picture.played === image.animation)
    }

    @Test("A display without a manager of its own has the default manager", .capability("VEW-24"))
    func defaultManager() throws {
        #expect(Portrait().imageBinding.manager === ImageManager.shared)
        let manager = try SnippetBench().manager()
        ImageBinding.defaultManager = manager
        defer { ImageBinding.defaultManager = .shared }
        #expect(Portrait().imageBinding.manager === manager)
    }

    @Test("A hash is shown until the image is there")
    func hash() async throws {
        let bench = try SnippetBench()
        let url = try bench.folder.write(try bench.picture(20, 10).encoded(as: .png), to: "hashed.png")
        let (picture, hash) = (Portrait(), try BlurHash(try bench.picture()).string)
        // snippet: placeholder-shown
        let placeholder = try? BlurHash(hash).image(size: PixelSize(width: 32, height: 24))
        picture.setImage(ImageRequest(url, isProgressive: true), placeholder: placeholder)
        // snippet.end
        #expect(picture.pixels?.size.width == 32)
        _ = try await picture.imageBinding.load()?.result.get()
        #expect(picture.pixels?.size.width == 20)
    }

    @Test("Images are prefetched as a display will ask for them")
    func prefetching() async throws {
        let bench = try SnippetBench()
        let (view, manager) = (Portrait(), try bench.manager())
        view.side = PixelSize(width: 40, height: 40)
        let urls = [try bench.file()]
        let prefetcher = ImagePrefetcher(manager: manager)
        // snippet: prefetch-display
        let requests = urls.map { view.adapted(ImageRequest($0), for: .image) }
        let prefetch = prefetcher.prefetch(requests)
        // snippet.end
        #expect(await prefetch.wait().loaded == 1)
        #expect(manager.memoryImage(for: requests[0])?.size == PixelSize(width: 40, height: 30))
        #expect(manager.memoryImage(for: ImageRequest(urls[0])) == nil)
    }

    @Test("A view plays the images at several URLs, unless it shows another image by then", .capability("OLD-10"))
    func severalURLs() async throws {
        let bench = try SnippetBench()
        let (manager, picture) = (try bench.manager(), Portrait())
        let urls = try ["one", "two"].map { name in
            try bench.folder.write(try bench.picture(20, 10).encoded(as: .png), to: name + ".png")
        }
        let url = try bench.file()
        @MainActor func begin() -> Task<Void, any Error> {
            // snippet: play-urls
            let loading = Task {
                let animation = try await AnimatedImage(urls: urls, durations: [.milliseconds(100)], manager: manager)
                try Task.checkCancellation()
                picture.show(DisplayedImage(Image(animation)), in: .image)
                picture.play(animation, in: .image)
            }
            // snippet.end
            return loading
        }
        try await begin().value
        #expect(picture.played?.frameCount == 2 && picture.pixels === picture.played?.poster.pixels)
        picture.played = nil
        let loading = begin()
        // snippet: play-urls-end
        loading.cancel()
        picture.setImage(url)
        // snippet.end
        _ = await loading.result
        _ = try await picture.imageBinding.load()?.result.get()
        #expect(picture.played == nil && picture.pixels?.size.width == 800)
    }

    @Test("A view plays an animation while it is loaded", .capability("AIV-05"))
    func arriving() async throws {
        let bench = try SnippetBench()
        let url = try bench.folder.write(try bench.picture(20, 10).encoded(as: .gif), to: "moving.gif")
        let picture = Portrait()
        // snippet: play-arriving
        picture.setImage(ImageRequest(url, isProgressive: true))
        // snippet.end
        _ = try await picture.imageBinding.load()?.result.get()
        #expect(picture.pixels?.size.width == 20)
    }
}
