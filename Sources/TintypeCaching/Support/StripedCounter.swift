internal import CLinux
internal import Glibc
internal import Synchronization

/// The division of data among the processors, so that threads on two of them don't wait for each other.
struct ProcessorStripes {
    /// A power of two.
    let count: Int

    init() {
        let processors = sysconf(CInt(_SC_NPROCESSORS_ONLN))
        var count = 1
        while count < processors, count < 32 { count *= 2 }
        self.count = count
    }

    /// The part of the processor that runs the calling thread. The thread may be on another processor by the time it uses it.
    @inline(__always)
    var current: Int { Int(sched_getcpu()) & (count - 1) }
}

/// A counter that threads increment without waiting for each other.
// Sendable: the memory is allocated once, and has atomic values only.
package final class StripedCounter: @unchecked Sendable {
    /// A value in a cache line of its own.
    private struct Stripe: ~Copyable {
        let count = Atomic(0)
        let padding = (0, 0, 0, 0, 0, 0, 0)
    }

    private let stripes = ProcessorStripes()
    private let base: UnsafeMutablePointer<Stripe>

    package init() {
        base = UnsafeMutableRawPointer.allocate(byteCount: stripes.count * MemoryLayout<Stripe>.stride, alignment: 64)
            .bindMemory(to: Stripe.self, capacity: stripes.count)
        for index in 0..<stripes.count { (base + index).initialize(to: Stripe()) }
    }

    deinit {
        base.deinitialize(count: stripes.count)
        base.deallocate()
    }

    @inline(__always)
    package func increment() { base[stripes.current].count.wrappingAdd(1, ordering: .relaxed) }

    /// The number of increments.
    package var value: Int { (0..<stripes.count).reduce(0) { $0 + base[$1].count.load(ordering: .relaxed) } }
}
