/// Runs a trace through the eviction policies of this library, and through one that they are compared with.
package enum CacheReplay {
    package enum Policy: String, CaseIterable, Sendable {
        /// The policy of the disk cache, and an option of the memory cache.
        case leastRecentlyUsed = "LRU"
        /// The default policy of the memory cache.
        case adaptive
        /// A policy that weighs uses by the cost of a miss for each byte (GreedyDual-Size-Frequency), which is the time to load
        /// it.
        case greedyDual = "GDSF"
    }

    /// The result of a replay. Ratios are fractions of all requests, from 0 to 1.
    package struct Result: Sendable {
        package var hits = 0
        package var hitBytes = 0.0
        package var requests = 0
        package var requestedBytes = 0.0
        /// The time of all misses of a memory cache, in milliseconds.
        package var decodeTime = 0.0
        package var loadTime = 0.0

        package var hitRatio: Double { requests == 0 ? 0 : Double(hits) / Double(requests) }
        package var byteRatio: Double { requestedBytes == 0 ? 0 : hitBytes / requestedBytes }
    }

    /// Returns the time of a miss in a memory cache, in milliseconds: 0.3 to find the bytes, and 2 for each decoded megabyte.
    package static func decodeTime(_ size: Int) -> Double { 0.3 + 2e-6 * Double(size) }

    /// Returns the time of a miss in a disk cache, in milliseconds: 60 for the round trip, the transfer at 2 megabytes per
    /// second, and decoding to ten times the size.
    package static func loadTime(_ size: Int) -> Double { 60 + 5e-4 * Double(size) + 2e-5 * Double(size) }

    /// Replays a trace.
    /// - Parameters:
    ///   - trace: the requests.
    ///   - policy: the eviction policy.
    ///   - capacity: the capacity in bytes. Larger objects are never stored.
    /// - Returns: counts and times of hits and misses.
    package static func run(_ trace: CacheTrace, policy: Policy, capacity: Int) -> Result {
        switch policy {
        case .leastRecentlyUsed: run(trace, ConfiguredEviction(.leastRecentlyUsed), capacity)
        case .adaptive: run(trace, ConfiguredEviction(.adaptive), capacity)
        case .greedyDual: run(trace, GreedyDualEviction(), capacity)
        }
    }

    private static func run(_ trace: CacheTrace, _ policy: some EvictionPolicy, _ capacity: Int) -> Result {
        var policy = policy
        var slots = [Slot](repeating: .none, count: trace.objects)
        var contents: [CacheTrace.Request] = []
        var free: [Slot] = []
        var used = 0
        var result = Result()
        for request in trace.requests {
            result.requests += 1
            result.requestedBytes += Double(request.size)
            if slots[request.key] != .none {
                policy.used(slots[request.key])
                result.hits += 1
                result.hitBytes += Double(request.size)
                continue
            }
            result.decodeTime += decodeTime(request.size)
            result.loadTime += loadTime(request.size)
            guard request.size <= capacity else { continue }
            let slot: Slot
            if let last = free.popLast() {
                slot = last
                contents[Int(slot)] = request
            } else {
                slot = Slot(contents.count)
                contents.append(request)
                policy.grow()
            }
            slots[request.key] = slot
            used += request.size
            // Spread out like the hashes of keys.
            let key = Int(truncatingIfNeeded: UInt64(request.key) &* 0x9E37_79B9_7F4A_7C15 >> 7)
            policy.inserted(slot, key: key, cost: request.size)
            while used > capacity, let victim = policy.evict(room: Room(bytes: capacity), newcomer: slot) {
                used -= contents[Int(victim)].size
                slots[contents[Int(victim)].key] = .none
                free.append(victim)
            }
        }
        return result
    }
}

/// Evicts the entry that saves the least time for its bytes: the number of its uses, multiplied by the time to load it, divided
/// by its size. Each eviction raises the value of all later entries (Cherkasova, 1998).
private struct GreedyDualEviction: EvictionPolicy {
    private var heap = SlotHeap()
    private var entries: [(size: Int, uses: Int)] = []
    private var age = 0.0

    mutating func grow() {
        heap.grow()
        entries.append((0, 0))
    }
    mutating func inserted(_ slot: Slot, key: Int, cost: Int) {
        entries[Int(slot)] = (cost, 1)
        heap.insert(slot, priority: worth(slot))
    }
    mutating func used(_ slot: Slot) {
        entries[Int(slot)].uses += 1
        heap.raise(slot, to: worth(slot))
    }
    mutating func removed(_ slot: Slot) { heap.remove(slot) }
    mutating func evict(room: Room, newcomer: Slot?) -> Slot? {
        guard let (slot, priority) = heap.popLowest() else { return nil }
        age = priority
        return slot
    }
    private func worth(_ slot: Slot) -> Double {
        let (size, uses) = entries[Int(slot)]
        return age + Double(uses) * CacheReplay.loadTime(size) / Double(max(1, size))
    }
}
