/// Options for showing an image in a display, named as in SDWebImage.
public struct DisplayOptions: OptionSet, Sendable, Hashable {
    /// The bits of the options.
    public let rawValue: UInt8
    /// Creates options from their bits.
    /// - Parameter rawValue: the bits of the options.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Shows the placeholder only if the load ends without an image.
    public static let delayPlaceholder = DisplayOptions(rawValue: 1 << 0)
    /// Lets the program show the image and its previews itself: it receives them as events. Placeholders and failure images are still
    /// shown.
    public static let avoidAutoSetImage = DisplayOptions(rawValue: 1 << 1)
    /// Uses the transition even for an image from memory.
    public static let forceTransition = DisplayOptions(rawValue: 1 << 2)
    /// Ends the load when the transition has ended.
    public static let waitTransition = DisplayOptions(rawValue: 1 << 3)
    /// Lets the previous load of the slot continue. The program receives its image, but the slot doesn't show it.
    public static let avoidAutoCancelImage = DisplayOptions(rawValue: 1 << 4)
    /// Keeps the current image until the new image has loaded, instead of showing the placeholder and incomplete previews.
    public static let keepCurrentImage = DisplayOptions(rawValue: 1 << 5)
}
