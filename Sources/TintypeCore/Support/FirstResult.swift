/// Starts all searches at once, and returns the first result.
///
/// The other searches are cancelled, and not waited for: one that ignores cancellation delays nobody.
/// - Returns: the result, the index of its search, and the searches that had ended without one; `nil` if no search has a result, or
///   the calling task is cancelled.
func firstResult<Value: Sendable>(
    of searches: [@Sendable () async -> Value?]
) async -> (index: Int, value: Value, misses: [Int])? {
    let (results, continuation) = AsyncStream.makeStream(of: (index: Int, value: Value?).self)
    let tasks = searches.enumerated().map { index, search in
        Task { continuation.yield((index, await search())) }
    }
    return await withTaskCancellationHandler {
        defer { for task in tasks { task.cancel() } }
        var misses: [Int] = []
        // Iterating ends when the calling task is cancelled.
        for await (index, value) in results {
            if let value { return (index, value, misses) }
            misses.append(index)
            if misses.count == searches.count { break }
        }
        return nil
    } onCancel: {
        for task in tasks { task.cancel() }
    }
}
