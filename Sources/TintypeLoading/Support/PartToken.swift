/// Numbers that tell the parts of requests apart, such as caches and loaders, which have no identity that the core knows.
///
/// An object has the same token as long as it lives, and no later object gets it. A value has a new token each time.
enum PartToken {
    // Sendable: the object is only compared, and a weak reference may be read on any thread.
    private struct Known: @unchecked Sendable {
        weak var object: AnyObject?
        var token: Int
    }

    private struct State {
        var last = 0
        var objects: [ObjectIdentifier: Known] = [:]
        /// The number of objects at which those that are gone are dropped.
        var limit = 64
    }

    private static let state = Lock(State())

    /// A token that nothing else has.
    static func next() -> Int {
        state.withLock { state in
            state.last += 1
            return state.last
        }
    }

    /// The token of a part; 0 for `nil`.
    static func token(of part: (any Sendable)?) -> Int {
        guard let part else { return 0 }
        guard type(of: part) is AnyClass else { return next() }
        let new = Known(object: part as AnyObject, token: 0)
        let id = ObjectIdentifier(part as AnyObject)
        return state.withLock { state in
            if let known = state.objects[id], known.object != nil { return known.token }
            if state.objects.count >= state.limit {
                state.objects = state.objects.filter { $0.value.object != nil }
                state.limit = max(64, 2 * state.objects.count)
            }
            state.last += 1
            var known = new
            known.token = state.last
            state.objects[id] = known
            return known.token
        }
    }
}
