/// The environment of an encoder: a check for cancellation.
public struct EncodeContext: Sendable {
    private let wasCancelled: @Sendable () -> Bool

    /// Creates a context.
    /// - Parameter isCancelled: returns true once the result is no longer needed; called regularly during long work, on the
    ///   thread that does it.
    public init(isCancelled: @escaping @Sendable () -> Bool = { false }) { wasCancelled = isCancelled }

    /// True if the result is no longer needed.
    public var isCancelled: Bool { wasCancelled() }

    /// Ends the work by throwing an error if its result is no longer needed. Coders call this between frames and between
    /// attempts at a size, and within a frame if the library allows it.
    /// - Throws: ``ImageError/Code/cancelled``
    public func checkCancellation() throws(ImageError) {
        if wasCancelled() { throw ImageError.cancelled(stage: .encode, while: "encoding") }
    }
}
