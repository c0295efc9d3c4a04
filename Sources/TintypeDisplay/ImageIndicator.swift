/// A sign on the screen that an image is being loaded, such as a spinner.
///
/// A load starts its indicator, and stops it before reporting its end. It also stops and restarts the indicator when it continues after a
/// suspension, or at another size for its display.
@MainActor public protocol ImageIndicator: AnyObject {
    /// Shows the indicator, at the start of its range.
    func start()
    /// Shows the progress of the load.
    /// - Parameter fraction: the received part, from 0 to 1, which never decreases; `nil` while it is unknown.
    func update(fraction: Double?)
    /// Hides the indicator.
    func stop()
}

/// The kind of an indicator. A display ignores kinds that it doesn't support.
public struct IndicatorStyle: RawRepresentable, Sendable, Hashable {
    /// The name of the style.
    public let rawValue: String
    /// Creates a custom style.
    /// - Parameter rawValue: the name of the style.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A spinner, for a load of unknown length.
    public static let spinner = IndicatorStyle(rawValue: "spinner")
    /// A bar that fills with the bytes that have arrived.
    public static let progress = IndicatorStyle(rawValue: "progress")
}
