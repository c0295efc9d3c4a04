/// An image for a slot of a display.
public struct DisplayedImage: Sendable {
    /// The reason why an image is shown.
    public enum Role: Sendable, Hashable, CaseIterable {
        /// The image stands in for an image that is being loaded, or can't be loaded.
        case placeholder
        /// The image is coarse, incomplete, or outdated, and its load continues.
        case preview
        /// The image is the requested image.
        case image
        /// The image indicates that the load failed.
        case failure
    }

    /// The image to show.
    public var image: Image
    /// The reason why it is shown.
    public var role: Role

    /// Creates a displayed image.
    /// - Parameters:
    ///   - image: the image to show.
    ///   - role: the reason why it is shown.
    public init(_ image: Image, role: Role = .image) {
        self.image = image
        self.role = role
    }
}
