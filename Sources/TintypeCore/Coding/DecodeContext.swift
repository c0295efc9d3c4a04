/// What a coder works in: the limits, where memory comes from and how much there is, and whether anybody still wants the
/// result.
public struct DecodeContext: Sendable {
    public var limits: DecodeLimits
    public var pool: PixelBufferPool
    /// What all decodes together may take.
    public var budget: DecodeBudget
    /// What tells decoders that are kept, such as those of frames, to give up what only saves time; `nil` for nothing.
    public var memoryPressure: MemoryPressure? = .system
    let isCancelled: @Sendable () -> Bool
    private let admission: Admission

    /// What becomes of a decode that finds no room in the budget.
    enum Admission {
        /// It waits on its thread.
        case blocks
        /// It ends, and is begun again when there is room.
        case ends(DecodeTicket)
        /// It ends: it is for a preview.
        case preview
    }

    /// - Parameter isCancelled: asked now and then during long work, from the thread that does it.
    public init(
        limits: DecodeLimits = DecodeLimits(), pool: PixelBufferPool = .shared, budget: DecodeBudget = .shared,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.init(limits: limits, pool: pool, budget: budget, admission: .blocks, isCancelled: isCancelled)
    }

    init(
        limits: DecodeLimits, pool: PixelBufferPool, budget: DecodeBudget, admission: Admission,
        isCancelled: @escaping @Sendable () -> Bool
    ) {
        self.limits = limits
        self.pool = pool
        self.budget = budget
        self.admission = admission
        self.isCancelled = isCancelled
    }

    /// Ends the work if nobody wants its result any more. Coders call this at least every few hundred rows.
    /// - Throws: ``ImageError/Code/cancelled``
    public func checkCancellation() throws(ImageError) {
        if isCancelled() { throw ImageError.cancelled(stage: .decode, while: "decoding") }
    }

    /// Runs `body` with the memory that a decode takes reserved in the ``budget``.
    ///
    /// A coder calls this once for an image, when it knows the header and before it takes memory; a coder that hands the bytes to
    /// another one leaves it to that. Cancellation is checked too, so that every decode checks it at least once.
    ///
    /// Where there is no room, a context that a program made waits on the calling thread; never nest calls.
    /// - Parameters:
    ///   - bytes: the memory for the pixels of the result and for everything in between.
    ///   - body: decodes the image.
    /// - Returns: the result of `body`.
    /// - Throws: ``ImageError/Code/overBudget`` where a load waits in the coder's place; pass it on.
    ///   ``ImageError/Code/cancelled``; and the errors of `body`.
    public func withReservedMemory<Value>(
        _ bytes: ByteCount, _ body: () throws(ImageError) -> Value
    ) throws(ImageError) -> Value {
        let reservation = try reserve(bytes.bytes)
        defer { withExtendedLifetime(reservation) {} }
        return try body()
    }

    /// Reserves the memory that a decode is about to take, as ``withReservedMemory(_:_:)`` does, until the reservation is released.
    package func reserve(_ bytes: Int) throws(ImageError) -> DecodeReservation {
        try checkCancellation()
        let bytes = DecodeBudget.counted(bytes)
        switch admission {
        case .blocks:
            return try budget.reserveBlocking(bytes, isCancelled: isCancelled)
        case .ends(let ticket):
            guard ticket.claim(bytes, from: budget) else { throw Self.overBudget(bytes) }
            // The ticket holds the memory until all the coders that may be asked are done.
            return DecodeReservation(bytes: bytes, onRelease: nil)
        case .preview:
            guard let reservation = budget.tryReservePreview(bytes) else { throw Self.overBudget(bytes) }
            return reservation
        }
    }

    private static func overBudget(_ bytes: Int) -> ImageError {
        ImageError(
            .overBudget, stage: .decode,
            reason: "what is decoded now leaves no room for the \(ByteCount(bytes)) that this image takes")
    }
}
