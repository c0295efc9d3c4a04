import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("Alternative sources and the caches", .timeLimited)
struct AlternativeSourcesTests {
    private let url = URL(string: "test:a")!
    private let mirror = URL(string: "test:mirror")!
    private let status = Lock(503)
    private let cache = DictionaryCache()

    /// A manager whose URL answers with the status, and whose mirror has an image, or with false fails for a while.
    private func manager(hasMirror: Bool = true) -> ImageManager {
        let loader = GatedLoader { [status, mirror] url in
            if url == mirror, hasMirror { return .success(.dot("test:mirror", size: 9)) }
            let code = url == mirror ? 503 : status.withLock { $0 }
            return .failure(ImageError(.badStatus, stage: .load, reason: "no", statusCode: code))
        }
        return ImageManager(
            cache: cache, loader: loader.withAlternatives { [mirror] _ in [mirror] },
            coders: ImageCoders([DotCoder()]), configuration: .still)
    }

    @Test("A failure isn't remembered if an alternative may soon have the image", .capability("3.4"))
    func memoryOfFailures() async throws {
        status.withLock { $0 = 404 }
        let manager = manager(hasMirror: false)
        let error = await #expect(throws: ImageError.self) { try await manager.image(for: url) }
        #expect(error?.statusCode == 404 && manager.failureCount == 0)
        #expect((error?.underlying as? ImageError)?.statusCode == 503)
    }
}
