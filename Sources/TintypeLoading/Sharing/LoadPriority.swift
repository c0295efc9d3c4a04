/// The priority of a caller: fixed, or changeable while the caller waits.
package struct LoadPriority: Sendable {
    private let fixed: ImagePriority
    /// `nil` for a fixed priority, which costs nothing to watch.
    let live: WorkPriority?

    package init(_ fixed: ImagePriority) { (self.fixed, live) = (fixed, nil) }
    init(_ live: WorkPriority) { (fixed, self.live) = (.normal, live) }

    var value: ImagePriority { live?.value ?? fixed }
}

/// A new priority of a job, numbered under the lock that computed it, so that a change that is overtaken has no effect.
struct PriorityChange: Sendable {
    private let target: WorkPriority
    private let value: ImagePriority
    private let number: Int

    init?(_ target: WorkPriority?, _ value: ImagePriority) {
        guard let target, let number = target.reserveChange(to: value) else { return nil }
        (self.target, self.value, self.number) = (target, value, number)
    }

    func apply() { target.set(value, change: number) }
}
