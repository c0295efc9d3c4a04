/// Options for showing an image in a display, under the names that SDWebImage made known.
public struct DisplayOptions: OptionSet, Sendable, Hashable {
    /// The bits of the options.
    public let rawValue: UInt8
    /// Creates options from their bits.
    /// - Parameter rawValue: the bits of the options.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Shows the placeholder only if the load ends without an image.
    public static let delayPlaceholder = DisplayOptions(rawValue: 1 << 0)
    /// Leaves it to the program to show the image and its previews, which it receives as events. Placeholders and
    /// failure images are shown.
    public static let avoidAutoSetImage = DisplayOptions(rawValue: 1 << 1)
    /// Uses the transition for an image from memory, too.
    public static let forceTransition = DisplayOptions(rawValue: 1 << 2)
    /// Ends the load when the transition has ended.
    public static let waitTransition = DisplayOptions(rawValue: 1 << 3)
    /// Lets the previous load of the slot go on. Its image isn't shown, but the program receives it.
    public static let avoidAutoCancelImage = DisplayOptions(rawValue: 1 << 4)
    /// Keeps the image that is shown until the new image is there, in place of the placeholder and of incomplete previews.
    public static let keepCurrentImage = DisplayOptions(rawValue: 1 << 5)
}
