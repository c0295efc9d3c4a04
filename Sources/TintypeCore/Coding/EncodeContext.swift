/// What an encoder works in: whether anybody still wants the result.
public struct EncodeContext: Sendable {
    private let wasCancelled: @Sendable () -> Bool

    /// - Parameter isCancelled: asked now and then during long work, from the thread that does it.
    public init(isCancelled: @escaping @Sendable () -> Bool = { false }) { wasCancelled = isCancelled }

    /// True if nobody wants the result any more.
    public var isCancelled: Bool { wasCancelled() }

    /// Ends the work if nobody wants its result any more. Coders call this between frames and between attempts at a size, and
    /// within a frame where the library lets them.
    /// - Throws: ``ImageError/Code/cancelled``
    public func checkCancellation() throws(ImageError) {
        if wasCancelled() { throw ImageError.cancelled(stage: .encode, while: "encoding") }
    }
}
