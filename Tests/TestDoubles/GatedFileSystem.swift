@testable import TintypeCaching
@testable import TintypeImages

/// A file system where the files of entries wait to be written until a test lets them go.
final class GatedFileSystem: Sendable {
    let files = FaultyFileSystem()
    private let gate = ThreadGate()
    private let arrivals = Lock<(count: Int, waiting: [(Int, CheckedContinuation<Void, Never>)])>((0, []))

    init() {
        files.fail { [weak self] operation, path in
            if operation == "write", path.contains("entries/"), path != DiskStore.marker { self?.pass() }
            return nil
        }
    }

    private func pass() {
        let ready = arrivals.withLock { arrivals in
            arrivals.count += 1
            defer { arrivals.waiting.removeAll { $0.0 <= arrivals.count } }
            return arrivals.waiting.filter { $0.0 <= arrivals.count }
        }
        for (_, continuation) in ready { continuation.resume() }
        gate.wait()
    }

    /// Waits until so many writes have begun.
    func arrival(of count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = arrivals.withLock { arrivals in
                if arrivals.count < count { arrivals.waiting.append((count, continuation)) }
                return arrivals.count >= count
            }
            if isThere { continuation.resume() }
        }
    }

    func open() { gate.open() }
}
