public import FoundationEssentials

/// Returns the bytes that the disk stores for an image, in place of those that came or that a coder would write.
///
/// It receives the image; its bytes as the source sent them, `nil` for a thumbnail or transformed image; and its URL. An original always
/// comes at its full size, so a load of a thumbnail decodes it again. The closure returns `nil` if the disk should store its usual
/// representation. It is called on a thread of the processing queue, once for the original and once for a stored variant; the bytes of
/// ``ImageManager/encoded(for:as:options:)`` aren't stored beside it. An error that it throws ends the write with ``ImageError/Code/encodeFailed``.
public typealias CacheSerializer = @Sendable (_ image: Image, _ data: Data?, _ url: URL) throws -> Data?
