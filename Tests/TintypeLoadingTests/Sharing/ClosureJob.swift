@testable import TintypeImages
@testable import TintypeLoading

/// A job whose code is closures.
struct ClosureJob<Key: Hashable & Sendable, Value: Sendable>: SharedJob {
    private let body: @Sendable (SharedWork<Self>.Job) async throws(ImageError) -> Value
    private let storing: @Sendable (Value, LoadWishes) async -> Void
    private let keeping: @Sendable (Value) -> Bool

    init(
        _ body: @escaping @Sendable (SharedWork<Self>.Job) async throws(ImageError) -> Value,
        store: @escaping @Sendable (Value, LoadWishes) async -> Void = { _, _ in },
        keeps: @escaping @Sendable (Value) -> Bool = { _ in false }
    ) {
        (self.body, storing, keeping) = (body, store, keeps)
    }

    func run(_ job: SharedWork<Self>.Job) async throws(ImageError) -> Value { try await body(job) }
    func store(_ value: Value, _ wishes: LoadWishes) async { await storing(value, wishes) }
    func keeps(_ value: Value) -> Bool { keeping(value) }
}
