/// The coder that a cache uses to decode and encode entries. Parts that the cache's creator didn't specify come from the
/// cache's manager.
package final class EntryCoderSource: Sendable {
    private let coders: (any ImageCoder)?
    private let limits: DecodeLimits?
    private let budget: DecodeBudget?
    private let processing: WorkQueue?
    /// The coder of a cache without a manager.
    private let fallback: EntryCoder
    private let provider = Lock<(@Sendable () -> EntryCoder?)?>(nil)

    /// - Parameters:
    ///   - coders: the coders that were given explicitly.
    ///   - fallbackCoders: the coders of a cache without a manager.
    package init(
        coders: (any ImageCoder)? = nil, limits: DecodeLimits? = nil, budget: DecodeBudget? = nil,
        processing: WorkQueue? = nil, fallbackCoders: any ImageCoder = ImageCoders()
    ) {
        self.coders = coders
        self.limits = limits
        self.budget = budget
        self.processing = processing
        fallback = EntryCoder(coders: fallbackCoders)
    }

    /// The coder to use now.
    var current: EntryCoder {
        // Called outside the lock, because the closure belongs to the manager.
        let provider = provider.withLock { $0 }
        var coder = provider?() ?? fallback
        if let coders { coder.coders = coders }
        if let limits { coder.limits = limits }
        if let budget { coder.budget = budget }
        if let processing { coder.processing = processing }
        return coder
    }

    /// Takes the parts that were not given explicitly from `provider`, unless another manager's is in use.
    func adopt(_ provider: @escaping @Sendable () -> EntryCoder?) {
        if let used = self.provider.withLock({ $0 }), used() != nil { return }
        self.provider.withLock { $0 = provider }
    }
}
