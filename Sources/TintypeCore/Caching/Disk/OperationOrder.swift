/// The stores and removals under way, in the order of the calls.
///
/// Operations on one source take turns; those on different sources don't wait for each other. Reads find the entries of stores under way
/// at once, and a removal cancels the stores whose turn has not come.
final class OperationOrder: Sendable {
    /// The part of a name that all variants of a source share.
    struct Source: Hashable {
        var high: UInt64
        var low: UInt64

        init(_ name: EntryName) { (high, low) = (name.sourceHigh, name.sourceLow) }

        func hash(into hasher: inout Hasher) { hasher.combine(low) }
    }

    fileprivate struct Operation {
        /// `nil` for an operation on all sources.
        var source: Source?
        /// The key of a store.
        var key: ImageKey?
        /// True once its turn has come.
        var isRunning = false
        /// The task that waits for its turn.
        var waiting: CheckedContinuation<Bool, Never>?
    }

    fileprivate struct State {
        var tickets = 0
        var operations: [Int: Operation] = [:]
        /// The operations of each source, in order.
        var sources: [Source: [Int]] = [:]
        /// The operations on all sources, in order.
        var barriers: [Int] = []
        /// The newest entry of each key that is not written yet.
        var newest: [ImageKey: (ticket: Int, entry: DiskCacheEntry)] = [:]
    }

    private let state = Lock(State())

    // MARK: Order

    /// Registers the store of an entry.
    func begin(_ entry: DiskCacheEntry, forKey key: ImageKey, _ name: EntryName) -> Int {
        state.withLock { state in
            let ticket = state.add(Operation(source: Source(name), key: key))
            state.newest[key] = (ticket, entry)
            return ticket
        }
    }

    /// Registers another operation on a source, or, for `nil`, on all of them.
    func begin(_ name: EntryName?) -> Int {
        state.withLock { $0.add(Operation(source: name.map { Source($0) })) }
    }

    /// Waits until the earlier operations on the same source have ended.
    /// - Returns: false if a removal cancelled the operation meanwhile.
    func turn(of ticket: Int) async -> Bool {
        if let isTurn = state.withLock({ $0.takeTurn(ticket) }) { return isTurn }
        return await withCheckedContinuation { continuation in
            let isTurn = state.withLock { state -> Bool? in
                let isTurn = state.takeTurn(ticket)
                if isTurn == nil { state.operations[ticket]?.waiting = continuation }
                return isTurn
            }
            if let isTurn { continuation.resume(returning: isTurn) }
        }
    }

    /// Ends an operation, however it went.
    func end(_ ticket: Int) {
        let (ready, old) = state.withLock { state -> ([CheckedContinuation<Bool, Never>], DiskCacheEntry?) in
            guard let operation = state.remove(ticket) else { return ([], nil) }
            var old: DiskCacheEntry?
            if let key = operation.key, state.newest[key]?.ticket == ticket {
                old = state.newest.removeValue(forKey: key)?.entry
            }
            return (state.takeReady(after: operation), old)
        }
        for continuation in ready { continuation.resume(returning: true) }
        _ = old  // Freed outside the lock.
    }

    /// Cancels the stores of some keys whose turn has not come, and hides the entries of the others.
    func cancel(where isConcerned: (ImageKey) -> Bool) {
        let (cancelled, ready, old) = state.withLock { state in
            var (cancelled, ready) = ([CheckedContinuation<Bool, Never>](), [CheckedContinuation<Bool, Never>]())
            let tickets = state.operations.filter { !$1.isRunning && $1.key.map(isConcerned) == true }.keys
            for ticket in tickets {
                guard let operation = state.remove(ticket) else { continue }
                if let waiting = operation.waiting { cancelled.append(waiting) }
                ready += state.takeReady(after: operation)
            }
            let keys = state.newest.keys.filter(isConcerned)
            return (cancelled, ready, keys.map { state.newest.removeValue(forKey: $0)?.entry })
        }
        for continuation in cancelled { continuation.resume(returning: false) }
        for continuation in ready { continuation.resume(returning: true) }
        _ = old
    }

    // MARK: Entries on their way

    /// The entry that is on its way under a key.
    @inline(__always)
    func entry(forKey key: ImageKey) -> DiskCacheEntry? {
        state.withLock { $0.newest.isEmpty ? nil : $0.newest[key]?.entry }
    }

    /// The variants of a source that are on their way.
    func variants(ofSource source: String) -> [ImageVariant] {
        state.withLock { $0.newest.keys.filter { $0.source == source }.map(\.variant) }
    }
}

extension OperationOrder.State {
    fileprivate mutating func add(_ operation: OperationOrder.Operation) -> Int {
        tickets += 1
        operations[tickets] = operation
        if let source = operation.source {
            sources[source, default: []].append(tickets)
        } else {
            barriers.append(tickets)
        }
        return tickets
    }

    fileprivate mutating func remove(_ ticket: Int) -> OperationOrder.Operation? {
        guard let operation = operations.removeValue(forKey: ticket) else { return nil }
        if let source = operation.source {
            sources[source]?.removeAll { $0 == ticket }
            if sources[source]?.isEmpty == true { sources[source] = nil }
        } else {
            barriers.removeAll { $0 == ticket }
        }
        return operation
    }

    /// True if the operation may go on, and does; false if it was cancelled; `nil` if it has to wait.
    fileprivate mutating func takeTurn(_ ticket: Int) -> Bool? {
        guard let operation = operations[ticket] else { return false }
        guard isTurn(of: ticket, operation) else { return nil }
        operations[ticket]?.isRunning = true
        return true
    }

    private func isTurn(of ticket: Int, _ operation: OperationOrder.Operation) -> Bool {
        guard let source = operation.source else { return !operations.keys.contains { $0 < ticket } }
        if let barrier = barriers.first, barrier < ticket { return false }
        return sources[source]?.first == ticket
    }

    /// The waiting tasks whose turn has come because an operation ended.
    fileprivate mutating func takeReady(
        after ended: OperationOrder.Operation
    ) -> [CheckedContinuation<Bool, Never>] {
        var candidates = barriers.prefix(1) + (ended.source.flatMap { sources[$0]?.prefix(1) } ?? [])
        // Others wait only for an operation on all sources.
        if ended.source == nil { candidates += sources.values.compactMap(\.first) }
        var ready: [CheckedContinuation<Bool, Never>] = []
        for ticket in candidates {
            guard let waiting = operations[ticket]?.waiting, takeTurn(ticket) == true else { continue }
            operations[ticket]?.waiting = nil
            ready.append(waiting)
        }
        return ready
    }
}
