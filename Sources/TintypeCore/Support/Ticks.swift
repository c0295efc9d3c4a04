internal import CLinux
#if !arch(x86_64)
internal import Synchronization
#endif

/// Numbers that rise with time, to tell which of two things came later.
///
/// On x86 it is the counter of the processor (10 ns), which all threads read without meeting; elsewhere a number that they
/// share, because counters there may stand still from one call to the next.
enum Ticks {
    #if arch(x86_64)
    @inline(__always)
    static var now: UInt64 { tintype_ticks() }
    #else
    private static let count = Atomic<UInt64>(0)
    static var now: UInt64 { count.wrappingAdd(1, ordering: .relaxed).newValue }
    #endif
}
