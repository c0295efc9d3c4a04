/// A comparison of the cost of a policy's misses with the cost that LRU would have had. Older misses count less.
///
/// The policy is followed until it has cost 1 % more than LRU would have; then LRU, until most of that loss is forgotten. So no sequence of
/// requests costs much more than with LRU, and the policy gets another chance when the requests change.
struct LossComparison {
    /// The excess, relative to LRU's loss, that ends the policy.
    private static let tolerance = 0.01
    /// The fraction of the tolerance below which the policy is tried again.
    private static let retryThreshold = 0.25
    /// The largest advantage that is counted, so that a long good phase does not offset a long bad phase.
    private static let largestAdvantage = 0.02
    /// The number of fills of the cache that make it forget about two thirds of past misses.
    private static let memory = 40.0

    /// The cost of the policy's misses beyond LRU's.
    private var excess = 0.0
    private var lossOfLRU = 0.0
    private(set) var prefersLRU = false

    /// Returns the time that a miss takes, in milliseconds: finding the bytes, and decoding them.
    static func timeOfMiss(bytes: Int) -> Double { 0.3 + 2e-6 * Double(bytes) }

    /// Records a request that was a miss for the policy, for LRU, or for both.
    /// - Parameters:
    ///   - time: the cost of the miss, in milliseconds.
    ///   - fill: the time to load everything that the cache holds.
    mutating func missed(_ time: Double, byPolicy: Bool, byLRU: Bool, fill: Double) {
        let remembered = 1 - time / (Self.memory * max(fill, time))
        lossOfLRU = lossOfLRU * remembered + (byLRU ? time : 0)
        excess = excess * remembered + (byPolicy ? time : 0) - (byLRU ? time : 0)
        excess = max(excess, -Self.largestAdvantage * lossOfLRU)
        prefersLRU = excess > Self.tolerance * lossOfLRU * (prefersLRU ? Self.retryThreshold : 1)
    }
}
