/// The environment of a coder or a transformer: limits, memory, and a check for cancellation.
///
/// A coder receives it as a parameter. A transformer reads ``current`` in ``ImageTransformer/transform(_:)``. A load provides its manager's
/// limits and memory, and cancels the work when the result is no longer needed.
public struct ProcessingContext: Sendable {
    /// The limits for headers, to check before memory is allocated, and for the images that transformers create.
    public var limits: DecodeLimits
    /// The pool for the memory of pixels.
    public var pool: PixelBufferPool
    /// The memory that all decodes together may use.
    public var budget: DecodeBudget
    /// The source of memory pressure for long-lived decoders, such as frame decoders, which respond by freeing memory that only
    /// saves time; `nil` for none.
    package var memoryPressure: MemoryPressure? = .system
    /// The server that the bytes are from; `nil` for the user's own images. An isolated process decodes images of a single
    /// origin at a time.
    package var origin: String?
    /// The queue that decodes the later frames of an animation.
    package var processing = WorkQueue.processing
    /// The stage of the work, for its errors.
    package var stage = ImageError.Stage.decode
    package let isCancelled: @Sendable () -> Bool
    private let admission: Admission

    /// The environment of the running transformer; elsewhere, an environment with default limits that checks the current task for
    /// cancellation.
    @TaskLocal public static var current = ProcessingContext(isCancelled: { Task.isCancelled }).at(.transform)

    /// The way to handle a decode that finds no room in the budget.
    package enum Admission {
        /// The decode waits on its thread, unless other decodes may need the thread.
        case blocks
        /// The decode ends, and starts again when there is room.
        case ends(DecodeTicket)
        /// The decode ends, because it is for a preview.
        case preview
        /// Another process is asked for the room.
        case asks(@Sendable (_ bytes: Int) throws(ImageError) -> Void)
    }

    /// Creates a context.
    /// - Parameters:
    ///   - limits: the limits on images.
    ///   - pool: the memory for pixels.
    ///   - budget: the memory that all decodes together may use.
    ///   - isCancelled: returns true once the result is no longer needed; called regularly during long work, on the working thread.
    public init(
        limits: DecodeLimits = DecodeLimits(), pool: PixelBufferPool = .shared, budget: DecodeBudget = .shared,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.init(limits: limits, pool: pool, budget: budget, admission: .blocks, isCancelled: isCancelled)
    }

    /// Creates the context of a decode on behalf of another process, which has the budget and ends this process when the result is no
    /// longer needed.
    /// - Parameters:
    ///   - limits: the limits on the images that are decoded.
    ///   - ask: returns when the other process has reserved memory, and throws if it has no room.
    package init(limits: DecodeLimits, asking ask: @escaping @Sendable (_ bytes: Int) throws(ImageError) -> Void) {
        self.init(
            limits: limits, pool: .shared, budget: DecodeBudget(limit: .unlimited), admission: .asks(ask),
            isCancelled: { false })
        memoryPressure = nil
    }

    package init(
        limits: DecodeLimits, pool: PixelBufferPool, budget: DecodeBudget, admission: Admission,
        isCancelled: @escaping @Sendable () -> Bool
    ) {
        self.limits = limits
        self.pool = pool
        self.budget = budget
        self.admission = admission
        self.isCancelled = isCancelled
    }

    /// Returns the same environment for another stage.
    package func at(_ stage: ImageError.Stage) -> ProcessingContext {
        var context = self
        context.stage = stage
        return context
    }

    /// Throws an error if the result is no longer needed. Coders and transformers call this at least every few hundred rows. An encoder
    /// whose library doesn't allow that calls it between frames and between attempts at a size.
    /// - Throws: ``ImageError/Code/cancelled``
    public func checkCancellation() throws(ImageError) {
        guard isCancelled() else { return }
        let work =
            switch stage {
            case .encode: "encoding"
            case .transform: "transforming"
            default: "decoding"
            }
        throw ImageError.cancelled(stage: stage, while: work)
    }

    /// Runs `body` after reserving the memory for a decode in the ``budget``.
    ///
    /// A coder calls this once per image, after reading the header and before allocating memory. A coder that passes the bytes to another
    /// coder leaves the call to that coder. This method also checks for cancellation, so every decode checks at least once.
    ///
    /// If the budget has no room, a context created by the program waits on the calling thread; in a task, and on a thread of a
    /// ``WorkQueue``, it doesn't wait. Never nest calls.
    /// - Parameters:
    ///   - bytes: the memory for the pixels of the result and for all intermediate data.
    ///   - body: decodes the image.
    /// - Returns: the result of `body`.
    /// - Throws: an error that the coder must pass on if the load waits in its place; ``ImageError/Code/cancelled``, and the errors of
    ///   `body`. A coder that replaces errors does so inside `body`.
    public func withReservedMemory<Value>(
        _ bytes: ByteCount, _ body: () throws(ImageError) -> Value
    ) throws(ImageError) -> Value {
        let reservation = try reserve(bytes.bytes)
        defer { withExtendedLifetime(reservation) {} }
        return try body()
    }

    /// Reserves the memory for a decode, like ``withReservedMemory(_:_:)``, until the reservation is released.
    package func reserve(_ bytes: Int) throws(ImageError) -> DecodeReservation {
        try checkCancellation()
        let bytes = DecodeBudget.counted(bytes)
        switch admission {
        case .blocks:
            return try budget.reserveBlocking(bytes, isCancelled: isCancelled)
        case .ends(let ticket):
            guard ticket.claim(bytes, from: budget) else { throw Self.overBudget(bytes) }
            // The ticket holds the memory until all coders that may be tried are done.
            return DecodeReservation(bytes: bytes, onRelease: nil)
        case .preview:
            guard let reservation = budget.tryReservePreview(bytes) else { throw Self.overBudget(bytes) }
            return reservation
        case .asks(let ask):
            try ask(bytes)
            return DecodeReservation(bytes: bytes, onRelease: nil)
        }
    }

    /// Reserves more memory for a decode that has called ``reserve(_:)`` before, if there is room now and no decode is waiting. It never
    /// waits, because the decode holds memory.
    /// - Returns: `nil` without room; always for a preview, and for a decode on behalf of another process, which is asked once.
    package func reserveMore(_ bytes: Int) -> DecodeReservation? {
        switch admission {
        case .blocks, .ends: budget.tryReserve(bytes, priority: .veryLow)
        case .preview, .asks: nil
        }
    }

    /// Returns the error of a decode that finds no room in the budget.
    package static func overBudget(_ bytes: Int) -> ImageError {
        ImageError(
            .overBudget, stage: .decode,
            reason: "the image needs \(ByteCount(bytes)), more than the decode budget has free")
    }
}
