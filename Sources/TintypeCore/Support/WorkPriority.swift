/// The priority of work that is queued or under way, which may change at any time.
///
/// Whoever keeps a queue of work watches the priority and moves the work when it changes.
public final class WorkPriority: Sendable {
    private struct State {
        var value: ImagePriority
        var observers: [Int: @Sendable (ImagePriority) -> Void] = [:]
        var nextObserver = 0
    }

    private let state: Lock<State>

    public init(_ value: ImagePriority = .normal) { state = Lock(State(value: value)) }

    /// The priority now. Setting it tells the observers before it returns.
    public var value: ImagePriority {
        get { state.withLock { $0.value } }
        set {
            let observers = state.withLock { state -> [@Sendable (ImagePriority) -> Void] in
                guard state.value != newValue else { return [] }
                state.value = newValue
                return Array(state.observers.values)
            }
            for observer in observers { observer(newValue) }
        }
    }

    /// Calls `observer` whenever the value changes, until the token is given to ``stopObserving(_:)``.
    public func observe(_ observer: @escaping @Sendable (ImagePriority) -> Void) -> Int {
        state.withLock { state in
            state.nextObserver += 1
            state.observers[state.nextObserver] = observer
            return state.nextObserver
        }
    }

    public func stopObserving(_ token: Int) {
        state.withLock { $0.observers[token] = nil }
    }
}
