internal import CLinux
#if !arch(x86_64)
internal import Synchronization
#endif

/// Numbers that increase with time, to determine which of two events came later.
///
/// On x86, this is the processor's counter (10 ns), which threads read without contention. Elsewhere it is a shared number,
/// because those counters may not advance between two calls.
enum Ticks {
    #if arch(x86_64)
    @inline(__always)
    static var now: UInt64 { tintype_ticks() }
    #else
    private static let count = Atomic<UInt64>(0)
    static var now: UInt64 { count.wrappingAdd(1, ordering: .relaxed).newValue }
    #endif
}
