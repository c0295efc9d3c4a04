/// What misses cost a policy, beside what they would have cost LRU; what is long past counts less.
///
/// It decides which of the two is followed: the policy, until it has cost 1 % more than LRU would have; then LRU, until
/// that is mostly forgotten. So no sequence of requests costs much more than it costs LRU, and one that changes its
/// nature gets another try.
struct LossComparison {
    /// The policy is given up when it has cost this part more than LRU.
    private static let tolerance = 0.01
    /// It is tried again when that has become less than this part of the tolerance.
    private static let pardon = 0.25
    /// An advantage counts up to this part, so that a long good time does not pay for a long bad one.
    private static let credit = 0.02
    /// How many fills of the cache it takes to forget about two thirds of what has been.
    private static let memory = 20.0

    /// What the policy's misses cost more than those of LRU.
    private var regret = 0.0
    private var lossOfLRU = 0.0
    private(set) var prefersLRU = false

    /// The time that a miss takes, in milliseconds: to find the bytes, and to decode them.
    static func timeOfMiss(bytes: Int) -> Double { 0.3 + 2e-6 * Double(bytes) }

    /// Notes a request that was a miss for one of them, or both.
    /// - Parameter fill: the time that it would take to load all that the cache holds.
    mutating func missed(_ time: Double, byPolicy: Bool, byLRU: Bool, fill: Double) {
        let kept = 1 - time / (Self.memory * max(fill, time))
        lossOfLRU = lossOfLRU * kept + (byLRU ? time : 0)
        regret = regret * kept + (byPolicy ? time : 0) - (byLRU ? time : 0)
        regret = max(regret, -Self.credit * lossOfLRU)
        prefersLRU = regret > Self.tolerance * lossOfLRU * (prefersLRU ? Self.pardon : 1)
    }
}
