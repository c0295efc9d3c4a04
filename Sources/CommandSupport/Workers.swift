/// Concurrent work on a list of any length.
package enum Workers {
    /// Lets `count` workers take elements until none are left.
    ///
    /// After the calling task is canceled, workers take no further elements.
    package static func run<Element: Sendable>(
        _ count: Int, next: @escaping @Sendable () async -> Element?,
        work: @escaping @Sendable (Element) async -> Void
    ) async {
        await withTaskGroup { group in
            for _ in 0..<max(1, count) {
                group.addTask {
                    while !Task.isCancelled, let element = await next() { await work(element) }
                }
            }
        }
    }
}
