/// A place for an image in a display, such as the background of a button.
///
/// Loads for the same slot replace each other; loads for different slots are independent. Programs may define slots of their own.
public struct ImageSlot: RawRepresentable, Sendable, Hashable {
    /// The name of the slot.
    public let rawValue: String
    /// Creates a custom slot.
    /// - Parameter rawValue: the name of the slot.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The image of a display that shows a single image.
    public static let image = ImageSlot(rawValue: "image")
    /// The image that a display shows in place of ``image`` while it is highlighted.
    public static let highlighted = ImageSlot(rawValue: "highlighted")
}
