/// Starts all searches at once, and returns the first result.
///
/// The other searches are canceled, but not waited for. So a search that ignores cancellation delays nothing.
/// - Returns: the result; `nil` if no search has a value, or the calling task is canceled.
func firstResult<Value: Sendable>(of searches: [@Sendable () async -> Value?]) async -> Value? {
    let (results, continuation) = AsyncStream.makeStream(of: Value?.self)
    let tasks = searches.map { search in Task { continuation.yield(await search()) } }
    defer { for task in tasks { task.cancel() } }
    var misses = 0
    // Iterating ends when the calling task is canceled.
    while misses < searches.count, let result = await results.first(where: { _ in true }) {
        if let result { return result }
        misses += 1
    }
    return nil
}
