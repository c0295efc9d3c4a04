public import FoundationEssentials

/// An image that is not decoded: its bytes, and what its header says.
///
/// An ``Image``, in contrast, always has its pixels.
public struct EncodedImage: Sendable {
    /// The bytes as the source sent them.
    public var data: Data
    /// What their header says.
    public var info: ImageInfo
    public var source: ImageSource
    public var url: URL
    /// What the bytes are cached by.
    public var key: ImageKey
    /// The type that the server stated.
    public var mimeType: String?
    /// The time to decode is that of the header.
    public var metrics: ImageMetrics
    /// Why the bytes could not be stored on disk, with ``ImageOptions/waitStoreCache``.
    public var storeError: ImageError?
}
