/// The stores and removals under way, in the order of the calls.
///
/// Operations on the same source take turns; operations on different sources don't wait for each other. Reads find the entries of stores
/// under way at once, and a removal cancels the stores whose turn has not come.
final class OperationOrder: Sendable {
    /// The part of a name that all variants of a source share.
    fileprivate struct Source: Hashable {
        var high: UInt64
        var low: UInt64

        init(_ name: EntryName) { (high, low) = (name.sourceHigh, name.sourceLow) }

        func hash(into hasher: inout Hasher) { hasher.combine(low) }
    }

    /// The place of an operation in the order.
    struct Ticket: Sendable {
        fileprivate var number: Int
        /// `nil` for an operation on all sources.
        fileprivate var source: Source?
    }

    fileprivate struct Operation {
        var number: Int
        /// The key of a store.
        var key: ImageKey?
        /// The entry of a store, unless a removal hides it.
        var entry: DiskCacheEntry?
        /// True once its turn has come.
        var isRunning = false
        /// The task that waits for its turn.
        var waiting: CheckedContinuation<Bool, Never>?
    }

    fileprivate struct State {
        var lastNumber = 0
        /// The operations of each source, in order. Those on all sources are under `nil`. No list is empty.
        var operations: [Source?: [Operation]] = [:]
        /// The bytes of the entries on their way.
        var bytes = 0
    }

    private let state = Lock(State())

    // MARK: Order

    /// Registers the store of an entry, unless a removal has overtaken it.
    /// - Parameter isCurrent: False after a removal. It is asked under the lock: a removal that is counted later cancels the store.
    func begin(
        _ entry: DiskCacheEntry, forKey key: ImageKey, _ name: EntryName, while isCurrent: () -> Bool
    ) -> Ticket? {
        state.withLock { state in
            isCurrent() ? state.add(Operation(number: 0, key: key, entry: entry), Source(name)) : nil
        }
    }

    /// Registers another operation on a source, or, for `nil`, on all of them.
    func begin(_ name: EntryName?) -> Ticket {
        state.withLock { $0.add(Operation(number: 0), name.map { Source($0) }) }
    }

    /// Waits until the earlier operations on the same source have ended.
    /// - Returns: false if a removal cancelled the operation meanwhile.
    func turn(of ticket: Ticket) async -> Bool {
        if let isTurn = state.withLock({ $0.takeTurn(ticket) }) { return isTurn }
        return await withCheckedContinuation { continuation in
            let isTurn = state.withLock { $0.takeTurn(ticket, orWait: continuation) }
            if let isTurn { continuation.resume(returning: isTurn) }
        }
    }

    /// Ends an operation, however it went.
    func end(_ ticket: Ticket) {
        let (ready, ended) = state.withLock { state in
            let ended = state.remove(ticket)
            return (ended == nil ? [] : state.takeReady(after: ticket.source), ended?.entry)
        }
        for continuation in ready { continuation.resume(returning: true) }
        _ = ended  // Freed outside the lock.
    }

    /// Cancels the stores of some keys whose turn has not come, and hides the entries of the others.
    func cancel(where isConcerned: (ImageKey) -> Bool) {
        let (cancelled, ready) = state.withLock { state in
            var cancelled: [Operation] = []
            for (source, operations) in state.operations {
                for operation in operations where operation.key.map(isConcerned) == true {
                    cancelled.append(operation)
                    let ticket = Ticket(number: operation.number, source: source)
                    if operation.isRunning { state.hideEntry(of: ticket) } else { _ = state.remove(ticket) }
                }
            }
            return (cancelled, cancelled.isEmpty ? [] : state.takeReady(after: nil))
        }
        for operation in cancelled { operation.waiting?.resume(returning: false) }
        for continuation in ready { continuation.resume(returning: true) }
    }

    // MARK: Entries on their way

    /// The bytes of the entries on their way.
    var bytes: Int { state.withLock { $0.bytes } }

    /// The entry that is on its way under a key.
    func entry(forKey key: ImageKey) -> DiskCacheEntry? {
        state.withLock { state in
            guard !state.operations.isEmpty else { return nil }
            return state.operations[Source(EntryName(source: key.source))]?.last { $0.key == key }?.entry
        }
    }

    /// The variants of a source that are on their way.
    func variants(ofSource source: String) -> [ImageVariant] {
        let operations = state.withLock { $0.operations[Source(EntryName(source: source))] ?? [] }
        let keys = operations.compactMap { $0.entry == nil || $0.key?.source != source ? nil : $0.key }
        return Set(keys).map(\.variant)
    }
}

extension OperationOrder.State {
    fileprivate mutating func add(
        _ new: OperationOrder.Operation, _ source: OperationOrder.Source?
    ) -> OperationOrder.Ticket {
        lastNumber += 1
        var new = new
        new.number = lastNumber
        bytes += new.entry?.data.count ?? 0
        operations[source, default: []].append(new)
        return OperationOrder.Ticket(number: lastNumber, source: source)
    }

    /// The index of an operation among the operations on its source; `nil` if it was cancelled.
    private func index(of ticket: OperationOrder.Ticket) -> Int? {
        operations[ticket.source]?.firstIndex { $0.number == ticket.number }
    }

    fileprivate mutating func remove(_ ticket: OperationOrder.Ticket) -> OperationOrder.Operation? {
        guard let index = index(of: ticket) else { return nil }
        let removed = operations[ticket.source]?.remove(at: index)
        bytes -= removed?.entry?.data.count ?? 0
        if operations[ticket.source]?.isEmpty == true { operations[ticket.source] = nil }
        return removed
    }

    fileprivate mutating func hideEntry(of ticket: OperationOrder.Ticket) {
        guard let index = index(of: ticket) else { return }
        bytes -= operations[ticket.source]?[index].entry?.data.count ?? 0
        operations[ticket.source]?[index].entry = nil
    }

    /// True if the operation may go on, and does; false if it was cancelled; `nil` if it has to wait.
    fileprivate mutating func takeTurn(
        _ ticket: OperationOrder.Ticket, orWait continuation: CheckedContinuation<Bool, Never>? = nil
    ) -> Bool? {
        guard let index = index(of: ticket) else { return false }
        guard isTurn(of: ticket) else {
            if let continuation { operations[ticket.source]?[index].waiting = continuation }
            return nil
        }
        operations[ticket.source]?[index].isRunning = true
        operations[ticket.source]?[index].waiting = nil
        return true
    }

    private func isTurn(of ticket: OperationOrder.Ticket) -> Bool {
        guard ticket.source != nil else { return operations.values.allSatisfy { $0[0].number >= ticket.number } }
        if let first = operations[nil]?[0], first.number < ticket.number { return false }
        return operations[ticket.source]?.first?.number == ticket.number
    }

    /// The waiting tasks whose turn has come because an operation ended.
    /// - Parameter source: the source of the operation; `nil` for all sources.
    fileprivate mutating func takeReady(after source: OperationOrder.Source?) -> [CheckedContinuation<Bool, Never>] {
        var ready: [CheckedContinuation<Bool, Never>] = []
        for source in source.map({ [$0, nil] }) ?? Array(operations.keys) {
            guard let first = operations[source]?.first, let waiting = first.waiting,
                takeTurn(OperationOrder.Ticket(number: first.number, source: source)) == true
            else { continue }
            ready.append(waiting)
        }
        return ready
    }
}
