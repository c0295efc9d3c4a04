/// Work on a list, with a bounded number of elements in hand, however long the list is.
enum Workers {
    /// Lets `count` workers take elements until there are no more.
    ///
    /// When the calling task is cancelled, elements that nobody has taken are left.
    static func run<Element: Sendable>(
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
