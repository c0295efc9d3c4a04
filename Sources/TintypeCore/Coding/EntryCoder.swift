/// Provisional until the caches' own.
enum EntryCoder {
    static func shouldDiscardEntry(after error: ImageError) -> Bool {
        [.corruptImage, .truncatedImage, .emptyBody].contains(error.code)
    }
    static func storageFormat(for image: Image, encodable: Set<ImageFormat>) -> ImageFormat {
        if let format = image.format, encodable.contains(format), format.storesAlpha || !image.hasAlpha { return format }
        if image.isAnimated, encodable.contains(.gif) { return .gif }
        return image.hasAlpha || image.pixels.format != .rgba8 ? .png : .jpeg
    }
}
