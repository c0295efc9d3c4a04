/// The eviction policy that a memory cache is configured with.
///
/// Both policies are stored side by side, and the unused one is empty. A hit needs only one branch to choose the policy, and
/// changes it in place.
struct ConfiguredEviction: EvictionPolicy {
    private var kind: MemoryCache.Policy
    private var leastRecentlyUsed = LeastRecentlyUsed()
    private var adaptive = AdaptiveEviction()

    init() { self.init(.adaptive) }

    init(_ kind: MemoryCache.Policy) { self.kind = kind }

    mutating func grow() {
        switch kind {
        case .adaptive: adaptive.grow()
        case .leastRecentlyUsed: leastRecentlyUsed.grow()
        }
    }

    mutating func inserted(_ slot: Slot, key: Int, cost: Int) {
        switch kind {
        case .adaptive: adaptive.inserted(slot, key: key, cost: cost)
        case .leastRecentlyUsed: leastRecentlyUsed.inserted(slot, key: key, cost: cost)
        }
    }

    mutating func used(_ slot: Slot) { used(slot, times: 1) }

    /// Records several uses since the last insertion or removal.
    mutating func used(_ slot: Slot, times: Int32) {
        switch kind {
        case .adaptive: adaptive.used(slot, times: times)
        case .leastRecentlyUsed: leastRecentlyUsed.used(slot)
        }
    }

    mutating func removed(_ slot: Slot) {
        switch kind {
        case .adaptive: adaptive.removed(slot)
        case .leastRecentlyUsed: leastRecentlyUsed.removed(slot)
        }
    }

    mutating func evict(room: Room, newcomer: Slot?) -> Slot? {
        switch kind {
        case .adaptive: adaptive.evict(room: room, newcomer: newcomer)
        case .leastRecentlyUsed: leastRecentlyUsed.evict(room: room, newcomer: newcomer)
        }
    }
}
