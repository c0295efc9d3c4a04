internal import FoundationEssentials
internal import CLinux
internal import Glibc

extension DiskStore {
    /// The largest image that is written on the caller's thread.
    static let largestWriteAtOnce = 512 << 10

    /// Stores an entry on the caller's thread, if that is a matter of copying its bytes to the kernel.
    ///
    /// To wake another thread, and to be woken by it, takes longer than to write a thumbnail: on a virtual machine with idle
    /// processors 100 µs beside 50. The kernel cannot be asked to write without waiting, as it can be to read, so this is done
    /// only where waiting is out of the ordinary: on a disk of this machine, with an index that is open, for what needs no
    /// transaction and no eviction, by one thread at a time, where Swift has another one, and while ``WritePace`` allows it.
    /// - Returns: false if nothing was stored, for whatever reason; a thread that may wait finds out which.
    func storeAtOnce(_ entry: DiskCacheEntry, forKey key: ImageKey) -> Bool {
        guard entry.data.count <= Self.largestWriteAtOnce, payloadCodec == nil, Self.hasSeveralProcessors else {
            return false
        }
        let start = ContinuousClock.now
        guard writePace.withLock({ $0.allowsWrite(at: start) }) else { return false }
        let configuration = limits.withLock { $0 }
        guard let new = try? newEntry(entry, encoded: nil, forKey: key, configuration) else { return false }
        let isStored = writer.withLockIfFree { writer in
            guard writer.isLocal, let index = openedIndex(writer),
                tooLittleSpace(for: new.fileSize, configuration) == nil
            else { return false }
            do throws(DiskFailure) {
                // What has no row yet replaces nothing that would have to be removed now.
                _ = try write(new, to: index, configuration, mayWait: false)
                return true
            } catch {
                return false
            }
        }
        let end = ContinuousClock.now
        writePace.withLock { $0.note(from: start, to: end) }
        guard isStored == true else { return false }
        counters.withLock { $0.stores += 1 }
        return true
    }

    /// Waits until no thread is storing.
    func waitForWriter() { writer.withLock { _ in } }

    static let hasSeveralProcessors = sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1
}

/// Keeps writes to a slow disk away from the caller's thread: one that took long keeps the next ones away for twenty times as
/// long. So waiting for the disk takes no more than a twentieth of one thread's time.
struct WritePace {
    /// What takes less is not waiting.
    static let slowWrite = Duration.milliseconds(2)

    private var pauseEnd: ContinuousClock.Instant?

    func allowsWrite(at time: ContinuousClock.Instant) -> Bool { pauseEnd.map { time >= $0 } ?? true }

    mutating func note(from start: ContinuousClock.Instant, to end: ContinuousClock.Instant) {
        let duration = start.duration(to: end)
        guard duration >= Self.slowWrite else { return }
        pauseEnd = max(pauseEnd ?? end, end.advanced(by: duration * 20))
    }
}
