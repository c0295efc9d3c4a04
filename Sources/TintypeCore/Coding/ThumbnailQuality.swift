/// What a thumbnail that is decoded at its size is to be: like the full image, or there soon.
///
/// Only JPEG has a faster way. Differences are to a Lanczos reduction of the full image, as they were measured on photographs.
public enum ThumbnailQuality: Sendable, Hashable {
    /// No difference is seen: above 52 dB. A JPEG is decoded at no less than twice the size, and resampled from there.
    case high
    /// Edges may be a little softer or rougher: about 45 dB. A JPEG is decoded at no less than the size; of a progressive one, the scans
    /// that add least to it are not decoded, unless previews needed them anyway.
    case fast
}
