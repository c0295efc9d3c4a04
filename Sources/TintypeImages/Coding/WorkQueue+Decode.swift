extension WorkQueue {
    /// Decodes on a thread of the queue, once there is room for it in the budget.
    ///
    /// No thread waits for the room. A coder that finds none ends after reading the header, which is read again later.
    func decode<Value: Sendable>(
        limits: DecodeLimits, pool: PixelBufferPool, budget: DecodeBudget, priority: WorkPriority = WorkPriority(),
        _ work: @escaping @Sendable (ProcessingContext) throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        var ticket = DecodeTicket(priority: priority.value)
        while true {
            let attempt = ticket
            defer { attempt.release() }
            do throws(ImageError) {
                return try await perform(priority: priority) { isCancelled throws(ImageError) in
                    // Released here, so that the room is available to others before the caller continues.
                    defer { attempt.release() }
                    var context = ProcessingContext(
                        limits: limits, pool: pool, budget: budget, admission: .ends(attempt), isCancelled: isCancelled)
                    context.processing = self
                    return try work(context)
                }
            } catch {
                guard error.code == .overBudget, let wanted = attempt.wanted else { throw error }
                let measured = StageStopwatch.beginWait()
                defer { measured?.end() }
                ticket = DecodeTicket(
                    try await budget.reserve(wanted, priority: priority), priority: priority.value)
            }
        }
    }
}
