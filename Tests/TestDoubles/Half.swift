@testable import TintypeImages

/// Halves an image, and counts how often.
final class Half: ImageTransformer {
    private let count = Lock(0)
    let key = "half"
    var runs: Int { count.withLock { $0 } }

    func transform(_ image: Image) throws -> Image {
        count.withLock { $0 += 1 }
        let size = PixelSize(width: max(1, image.size.width / 2), height: max(1, image.size.height / 2))
        return Image(pixels: try image.pixels.resized(to: size), properties: image.properties)
    }
}
