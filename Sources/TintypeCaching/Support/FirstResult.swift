/// Starts all searches at once, and returns the first result.
///
/// The other searches are canceled, but not waited for. So a search that ignores cancellation delays nothing.
/// - Returns: the result, the index of its search, and the searches that ended without a result; `nil` if no search has a
///   result, or the calling task is canceled.
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
