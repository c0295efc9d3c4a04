import Foundation
@testable import TintypeLoading

/// Tests often need no more of a request than its URL.
extension ImageManager {
    func key(for url: URL) -> ImageKey { key(for: ImageRequest(url)) }

    func memoryImage(for url: URL) -> Image? { memoryImage(for: ImageRequest(url)) }

    func cachedImage(for url: URL) async throws(ImageError) -> Image? { try await cachedImage(for: ImageRequest(url)) }

    func store(_ image: Image, data: Data? = nil, for url: URL) async throws(ImageError) {
        try await store(image, data: data, for: ImageRequest(url))
    }

    func cachedLayers(for url: URL) async -> CacheLayers { await cachedLayers(for: ImageRequest(url)) }

    func cachedVariants(of url: URL) async -> [ImageKey] { await cachedVariants(of: ImageRequest(url)) }

    @discardableResult func removeCachedImage(for url: URL) async throws(ImageError) -> Bool {
        try await removeCachedImage(for: ImageRequest(url))
    }

    func data(for url: URL) async throws(ImageError) -> EncodedImage { try await data(for: ImageRequest(url)) }
}
