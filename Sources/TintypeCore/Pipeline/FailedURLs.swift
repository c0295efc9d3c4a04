/// URLs that failed a short while ago, so that a list of broken images does not ask for each again and again.
///
/// Remembered for a time and up to a count; the oldest go first.
struct FailedURLs {
    private var failures: [String: (error: ImageError, until: ContinuousClock.Instant)] = [:]
    private var order: [String] = []
    /// How many are remembered; lower limits take hold with the next one.
    var limit: Int
    /// For how long one is remembered from now on.
    var lifetime: Duration

    init(limit: Int, lifetime: Duration) {
        self.limit = limit
        self.lifetime = lifetime
    }

    var count: Int { failures.count }

    /// Why a URL failed, if that is still remembered.
    mutating func failure(of url: String, at now: ContinuousClock.Instant) -> ImageError? {
        guard let (error, until) = failures[url] else { return nil }
        guard now < until else {
            remove(url)
            return nil
        }
        return error
    }

    mutating func insert(_ url: String, _ error: ImageError, at now: ContinuousClock.Instant) {
        guard limit > 0, lifetime > .zero else { return }
        if failures.updateValue((error, now + lifetime), forKey: url) == nil { order.append(url) }
        while failures.count > limit, let oldest = order.first { remove(oldest) }
    }

    mutating func remove(_ url: String) {
        guard failures.removeValue(forKey: url) != nil else { return }
        if let index = order.firstIndex(of: url) { order.remove(at: index) }
    }

    mutating func removeAll() {
        failures = [:]
        order = []
    }
}
