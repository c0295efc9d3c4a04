/// The state of a slot, for programs that derive their views from it.
public enum DisplayPhase: Sendable {
    /// Nothing was requested.
    case empty
    /// The image is being loaded; `fraction` is the received part, or `nil` while it is unknown.
    case loading(fraction: Double?)
    /// The image was loaded.
    case image(ImageResult)
    /// The load failed, or was canceled.
    case failure(ImageError)
}
