internal import TintypeImages

extension ImageError {
    static func truncated(_ reason: String) -> ImageError {
        ImageError(.truncatedImage, stage: .decode, reason: reason)
    }

    static func corrupt(_ reason: String) -> ImageError {
        ImageError(.corruptImage, stage: .decode, reason: reason)
    }
}
