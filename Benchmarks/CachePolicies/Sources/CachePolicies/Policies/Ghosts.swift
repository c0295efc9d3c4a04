/// Keys that were evicted, the latest ones, up to a number and a sum of costs.
struct Ghosts {
    private var order: [Int] = []
    private var front = 0
    /// The key's cost and its place in the order.
    private var entries: [Int: (cost: Int, place: Int)] = [:]
    private(set) var cost = 0

    var count: Int { entries.count }

    mutating func add(_ key: Int, cost: Int) {
        _ = take(key)
        entries[key] = (cost, order.count)
        order.append(key)
        self.cost += cost
    }

    /// The cost of the key, which is no longer remembered then.
    mutating func take(_ key: Int) -> Int? {
        guard let entry = entries.removeValue(forKey: key) else { return nil }
        cost -= entry.cost
        return entry.cost
    }

    mutating func limit(count limit: Int, cost maximum: Int) {
        while count > limit || cost > maximum, front < order.count {
            let key = order[front]
            if entries[key]?.place == front { _ = take(key) }
            front += 1
        }
        guard front > 1024, front > order.count / 2 else { return }
        order.removeFirst(front)
        for (key, entry) in entries { entries[key] = (entry.cost, entry.place - front) }
        front = 0
    }
}
