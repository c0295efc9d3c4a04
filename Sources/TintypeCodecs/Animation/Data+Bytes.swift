internal import FoundationEssentials
internal import TintypeCore

extension Data {
    /// `withUnsafeBytes` that keeps the type of what its body throws.
    func withBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(ImageError) -> Value
    ) throws(ImageError) -> Value {
        let result: Result<Value, ImageError> = withUnsafeBytes { bytes in
            Result { () throws(ImageError) in try body(bytes) }
        }
        return try result.get()
    }
}

extension ImageError {
    static func truncated(_ reason: String) -> ImageError {
        ImageError(.truncatedImage, stage: .decode, reason: reason)
    }

    static func corrupt(_ reason: String) -> ImageError {
        ImageError(.corruptImage, stage: .decode, reason: reason)
    }
}
