/// The priority of work that is queued or in progress, which can change at any time.
///
/// A queue observes the priority, and reorders its work when it changes.
public final class WorkPriority: Sendable {
    private struct Observer {
        var token: Int
        var tell: @Sendable (ImagePriority) -> Void
    }

    private struct State {
        var value: ImagePriority
        /// Usually the only observer, which then takes no array.
        var firstObserver: Observer?
        /// Few at a time: an array costs less than a dictionary.
        var otherObservers: [Observer] = []
        var nextObserver = 0
        /// The number of the last change that was reserved, and of the last change that took effect.
        var lastReserved = 0
        var lastApplied = 0
        /// The value that the last reserved change leads to.
        var reserved: ImagePriority
        /// True while a thread notifies the observers. That thread notifies them of later changes too, so that these arrive in
        /// order.
        var isTelling = false
        var told: ImagePriority
    }

    private let state: Lock<State>

    /// Creates a priority.
    /// - Parameter value: the initial value.
    public init(_ value: ImagePriority = .normal) {
        state = Lock(State(value: value, reserved: value, told: value))
    }

    /// The current priority.
    ///
    /// Observers are notified of a change before the setter returns, unless another thread is already notifying them. In that case, that
    /// thread also reports this change. The last value that an observer receives is the current value.
    public var value: ImagePriority {
        get { state.withLock { $0.value } }
        set { reserveChange(to: newValue)?() }
    }

    /// Numbers a change, so that the later of two changes wins even if it is applied first.
    /// - Returns: A closure that applies the change, unless a later change has been applied; `nil` if the priority already has the value, or
    ///   is about to have it.
    package func reserveChange(to value: ImagePriority) -> (@Sendable () -> Void)? {
        let number = state.withLock { state -> Int? in
            guard state.reserved != value else { return nil }
            state.reserved = value
            state.lastReserved += 1
            return state.lastReserved
        }
        guard let number else { return nil }
        return { self.set(value, change: number) }
    }

    private func set(_ value: ImagePriority, change: Int) {
        let isTold = state.withLock { state in
            guard change > state.lastApplied else { return true }
            state.lastApplied = change
            state.value = value
            guard !state.isTelling else { return true }
            state.isTelling = true
            return false
        }
        guard !isTold else { return }
        while let (value, observers) = nextToTell() {
            for observer in observers { observer(value) }
        }
    }

    private func nextToTell() -> (ImagePriority, [@Sendable (ImagePriority) -> Void])? {
        state.withLock { state in
            guard state.told != state.value else {
                state.isTelling = false
                return nil
            }
            state.told = state.value
            return (state.value, (state.firstObserver.map { [$0.tell] } ?? []) + state.otherObservers.map(\.tell))
        }
    }

    /// Calls `observer` whenever the value changes, until the token is passed to ``stopObserving(_:)``.
    ///
    /// Read ``value`` after this call, not before. Otherwise you miss a change in between.
    /// - Parameter observer: receives the new value.
    /// - Returns: the token.
    package func observe(_ observer: @escaping @Sendable (ImagePriority) -> Void) -> Int {
        state.withLock { state in
            state.nextObserver += 1
            let observer = Observer(token: state.nextObserver, tell: observer)
            if state.firstObserver == nil {
                state.firstObserver = observer
            } else {
                state.otherObservers.append(observer)
            }
            return observer.token
        }
    }

    /// Ends an observation.
    /// - Parameter token: the result of ``observe(_:)``.
    package func stopObserving(_ token: Int) {
        state.withLock { state in
            if state.firstObserver?.token == token { return state.firstObserver = nil }
            // From the end: the work that ends is seldom the oldest in the queue.
            guard let index = state.otherObservers.lastIndex(where: { $0.token == token }) else { return }
            state.otherObservers.remove(at: index)
        }
    }
}
