/// What a coder works in: the limits, where memory comes from, and whether anybody still wants the result.
public struct DecodeContext: Sendable {
    public var limits: DecodeLimits
    public var pool: PixelBufferPool
    private let isCancelled: @Sendable () -> Bool

    /// - Parameter isCancelled: asked now and then during long work, from the thread that does it.
    public init(
        limits: DecodeLimits = DecodeLimits(), pool: PixelBufferPool = .shared,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.limits = limits
        self.pool = pool
        self.isCancelled = isCancelled
    }

    /// Ends the work if nobody wants its result any more. Coders call this at least every few hundred rows.
    /// - Throws: ``ImageError/Code/cancelled``
    public func checkCancellation() throws(ImageError) {
        if isCancelled() { throw ImageError(.cancelled, stage: .decode, reason: "cancelled while decoding") }
    }
}
