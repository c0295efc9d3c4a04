/// The coder that a cache decodes and encodes entries with: the parts that it was given, and for the others those of its manager.
package final class EntryCoderSource: Sendable {
    private let coders: (any ImageCoder)?
    private let limits: DecodeLimits?
    private let budget: DecodeBudget?
    private let processing: WorkQueue?
    /// The coder where there is no manager.
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
        // Called outside the lock: it is the manager's.
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
