@testable import TintypeCaching

/// What the misses of one policy cost.
struct Misses {
    var objects = 0
    var bytes = 0
    /// In milliseconds: 0.3 for each miss, and 2 for each decoded megabyte.
    var time = 0.0
    /// The time of the misses of a cache on disk, in milliseconds.
    var loadTime = 0.0
    var requests = 0
    var requestedBytes = 0
    var requestedTime = 0.0

    static func time(_ size: Int) -> Double { 0.3 + 2e-6 * Double(size) }

    /// Returns the time of a miss in a cache on disk, in milliseconds: 60 for the round trip, the transfer at 2 megabytes per second, and
    /// decoding to ten times the size.
    static func loadTime(_ size: Int) -> Double { 60 + 5e-4 * Double(size) + 2e-5 * Double(size) }

    var objectRatio: Double { Double(objects) / Double(requests) }
    var byteRatio: Double { Double(bytes) / Double(requestedBytes) }
    var timeRatio: Double { time / requestedTime }
}

/// Plays a trace to a policy, as the memory cache would call it.
func replay<Policy: EvictionPolicy>(_ trace: Trace, capacity: Int, with: Policy.Type) -> Misses {
    var policy = Policy()
    var slots: [Int: Slot] = [:]
    var keys: [Int] = []
    var sizes: [Int] = []
    var free: [Slot] = []
    var used = 0
    var misses = Misses()
    for request in trace.requests {
        let time = Misses.time(request.size)
        misses.requests += 1
        misses.requestedBytes += request.size
        misses.requestedTime += time
        if let slot = slots[request.key] {
            policy.used(slot)
            continue
        }
        misses.objects += 1
        misses.bytes += request.size
        misses.time += time
        misses.loadTime += Misses.loadTime(request.size)
        guard request.size <= capacity else { continue }
        let slot: Slot
        if let last = free.popLast() {
            slot = last
        } else {
            slot = Slot(keys.count)
            keys.append(0)
            sizes.append(0)
            policy.grow()
        }
        keys[Int(slot)] = request.key
        sizes[Int(slot)] = request.size
        slots[request.key] = slot
        used += request.size
        policy.inserted(slot, key: Int(truncatingIfNeeded: Seeded.mix(UInt64(request.key))), cost: request.size)
        while used > capacity, let victim = policy.evict(room: Room(bytes: capacity), newcomer: slot) {
            used -= sizes[Int(victim)]
            slots[keys[Int(victim)]] = nil
            free.append(victim)
        }
    }
    return misses
}
