internal import Synchronization

/// A wait in a queue, which ends exactly once, and possibly before anyone waits.
///
/// The queue holds the wait, and ends it when its turn comes, or when it leaves the queue after a cancellation.
package final class QueuedWait<Value: Sendable>: Sendable {
    private enum State {
        case open
        case listening(@Sendable (Value) -> Void)
        // Unsafe: the state is resumed once, as it changes to done, and a checked continuation costs two allocations.
        case awaited(UnsafeContinuation<Value, Never>)
        /// Ended before anyone waited.
        case ended(Value)
        case done
    }

    private let state = Lock(State.open)
    private let cancelled = Atomic(false)
    /// Zero until the wait has entered the queue.
    private let ticket = Atomic(0)

    package init() {}

    /// True after the task that waits, or waited, was canceled in ``value(following:enter:move:leave:)``.
    package var isCancelled: Bool { cancelled.load(ordering: .sequentiallyConsistent) }

    /// Ends the wait. Further calls have no effect.
    package func end(_ value: Value) {
        let ended = state.withLock { state in
            switch state {
            case .open:
                state = .ended(value)
                return State.done
            case .listening, .awaited:
                defer { state = .done }
                return state
            case .ended, .done: return .done
            }
        }
        switch ended {
        case .listening(let listener): listener(value)
        case .awaited(let continuation): continuation.resume(returning: value)
        case .open, .ended, .done: break
        }
    }

    /// Calls `listener` when the wait ends, at once if it has ended. A wait has a single listener.
    package func onEnd(_ listener: @escaping @Sendable (Value) -> Void) {
        if let early = end(unless: .listening(listener)) { listener(early) }
    }

    /// The value, if the wait has ended; otherwise, it gets a listener.
    private func end(unless listening: State) -> Value? {
        state.withLock { state in
            guard case .ended(let value) = state else {
                state = listening
                return nil
            }
            state = .done
            return value
        }
    }

    /// Enters the queue and waits for the end, as the only listener.
    ///
    /// The wait is cancelable before it enters, so that work that a queue starts at once sees every cancellation.
    /// - Parameters:
    ///   - priority: the priority of the wait; `nil` if it never changes.
    ///   - enter: adds the wait to the queue and returns its ticket there, which isn't zero.
    ///   - move: moves the wait to the present value of `priority`, which it has to read again under the lock of the queue, so that
    ///     the last of several changes applies.
    ///   - leave: called if the task is canceled, once or twice. It removes the wait from the queue and ends it, unless its turn
    ///     has come.
    package func value(
        following priority: WorkPriority?, enter: () -> Int, move: @escaping @Sendable (Int) -> Void,
        leave: @escaping @Sendable (Int) -> Void
    ) async -> Value {
        await withTaskCancellationHandler {
            let ticket = enter()
            self.ticket.store(ticket, ordering: .sequentiallyConsistent)
            if isCancelled { leave(ticket) }
            let token = priority?.observe { _ in move(ticket) }
            defer { if let token { priority?.stopObserving(token) } }
            // It may have changed since the wait was added to the queue.
            if priority != nil { move(ticket) }
            return await withUnsafeContinuation { continuation in
                if let early = end(unless: .awaited(continuation)) { continuation.resume(returning: early) }
            }
        } onCancel: {
            cancelled.store(true, ordering: .sequentiallyConsistent)
            let ticket = ticket.load(ordering: .sequentiallyConsistent)
            if ticket != 0 { leave(ticket) }
        }
    }
}
