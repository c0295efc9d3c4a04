/// The stores and removals under way, in the order of the calls.
///
/// Operations on one source take turns; those on different sources don't wait for each other. Reads find the entries of stores under way
/// at once, and a removal cancels the stores whose turn has not come.
final class OperationOrder: Sendable {
    // Sendable: its variables are used under the lock of the order.
    final class Ticket: @unchecked Sendable {
        /// The hash of the source; `nil` for an operation on all sources.
        fileprivate let source: UInt128?
        /// The key and the entry of a store.
        fileprivate let key: ImageKey?
        fileprivate let entry: DiskCacheEntry?
        fileprivate var number = 0
        /// True once its turn has come.
        fileprivate var isRunning = false
        /// True if a removal has overtaken it. Its entry isn't found any more.
        fileprivate var isCancelled = false
        /// The task that waits for its turn.
        fileprivate var waiting: CheckedContinuation<Bool, Never>?

        fileprivate init(_ source: UInt128?, key: ImageKey? = nil, entry: DiskCacheEntry? = nil) {
            (self.source, self.key, self.entry) = (source, key, entry)
        }
    }

    fileprivate struct State {
        var lastNumber = 0
        /// The operations of each source, in order. Those on all sources are under `nil`. No list is empty.
        var operations: [UInt128?: [Ticket]] = [:]
    }

    private let state = Lock(State())

    /// Registers the store of an entry, unless a removal has overtaken it.
    /// - Parameter isCurrent: False after a removal. It is asked under the lock: a removal that is counted later cancels the store.
    func begin(_ entry: DiskCacheEntry, forKey key: ImageKey, while isCurrent: () -> Bool) -> Ticket? {
        let ticket = Ticket(EntryName(key).source, key: key, entry: entry)
        return state.withLock { state in
            guard isCurrent() else { return nil }
            state.add(ticket)
            return ticket
        }
    }

    /// Registers another operation on a source, or, for `nil`, on all of them.
    func begin(_ name: EntryName?) -> Ticket {
        let ticket = Ticket(name?.source)
        state.withLock { $0.add(ticket) }
        return ticket
    }

    /// Waits until the earlier operations on the same source have ended.
    /// - Returns: false if a removal canceled the operation meanwhile.
    func turn(of ticket: Ticket) async -> Bool {
        await withCheckedContinuation { continuation in
            let isTurn: Bool? = state.withLock { state in
                if ticket.isCancelled { return false }
                ticket.isRunning = state.isTurn(of: ticket)
                ticket.waiting = ticket.isRunning ? nil : continuation
                return ticket.isRunning ? true : nil
            }
            if let isTurn { continuation.resume(returning: isTurn) }
        }
    }

    /// Ends an operation, however it went.
    func end(_ ticket: Ticket) {
        let ready = state.withLock { state in
            state.remove(ticket)
            return state.takeReady(after: ticket.source)
        }
        for continuation in ready { continuation.resume(returning: true) }
    }

    /// Cancels the stores of some keys whose turn has not come, and hides the entries of the others.
    func cancel(where isConcerned: (ImageKey) -> Bool) {
        let (cancelled, ready) = state.withLock { state in
            let tickets = state.operations.values.joined().filter { $0.key.map(isConcerned) == true }
            for ticket in tickets {
                ticket.isCancelled = true
                if !ticket.isRunning { state.remove(ticket) }
            }
            return (tickets.compactMap { $0.waiting.take() }, state.takeReady(after: nil))
        }
        for continuation in cancelled { continuation.resume(returning: false) }
        for continuation in ready { continuation.resume(returning: true) }
    }

    // MARK: Entries on their way

    func entry(forKey key: ImageKey) -> DiskCacheEntry? {
        state.withLock { state in
            guard !state.operations.isEmpty else { return nil }
            return state.operations[EntryName(key).source]?.last { $0.key == key && !$0.isCancelled }?.entry
        }
    }

    func variants(ofSource source: String) -> [ImageVariant] {
        let tickets = state.withLock { state in
            state.operations[EntryName(source: source).source]?.filter { !$0.isCancelled } ?? []
        }
        return Array(Set(tickets.compactMap { $0.key?.source == source ? $0.key?.variant : nil }))
    }
}

extension OperationOrder.State {
    fileprivate mutating func add(_ ticket: OperationOrder.Ticket) {
        lastNumber += 1
        ticket.number = lastNumber
        operations[ticket.source, default: []].append(ticket)
    }

    fileprivate func isTurn(of ticket: OperationOrder.Ticket) -> Bool {
        guard ticket.source != nil else { return operations.values.allSatisfy { $0[0].number >= ticket.number } }
        if let first = operations[nil]?[0], first.number < ticket.number { return false }
        return operations[ticket.source]?.first === ticket
    }

    fileprivate mutating func remove(_ ticket: OperationOrder.Ticket) {
        operations[ticket.source]?.removeAll { $0 === ticket }
        if operations[ticket.source]?.isEmpty == true { operations[ticket.source] = nil }
    }

    /// The waiting tasks whose turn has come because an operation on a source, or on all for `nil`, ended.
    fileprivate func takeReady(after source: UInt128?) -> [CheckedContinuation<Bool, Never>] {
        let sources = source.map { [$0, nil] } ?? Array(operations.keys)
        return sources.compactMap { source in
            guard let first = operations[source]?.first, first.waiting != nil, isTurn(of: first) else { return nil }
            first.isRunning = true
            return first.waiting.take()
        }
    }
}
