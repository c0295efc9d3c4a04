/// The state of a slot, for programs that derive their views from it.
public enum DisplayPhase: Sendable {
    /// Nothing was requested.
    case empty
    /// The image is being loaded; the received part, `nil` while it is unknown.
    case loading(fraction: Double?)
    /// The image is there.
    case image(ImageResult)
    /// The load failed, or was canceled.
    case failure(ImageError)
}
