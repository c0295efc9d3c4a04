/// The tradeoff between the quality of a thumbnail and the time to decode it.
///
/// Only JPEG has a faster way. Differences are relative to a Lanczos reduction of the full image, measured on photographs.
public enum ThumbnailQuality: Sendable, Hashable {
    /// No visible difference: more than 52 dB. A JPEG is decoded at twice the size or more, and resampled from there.
    case high
    /// Edges may be slightly softer or rougher: about 45 dB. A JPEG is decoded at the requested size or more. Of a progressive
    /// JPEG, the scans that contribute least are not decoded, unless previews needed them anyway.
    case fast
}
