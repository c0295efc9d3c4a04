internal import TintypeImages

/// Copies of a canvas, which go when memory becomes scarce: they only save time.
///
/// The decoder that owns them is used by a single thread at a time; pressure is reported on another.
final class CanvasSnapshots: Sendable {
    private let copies = Lock<[Int: PixelBuffer]>([:])
    private let observation = Lock<MemoryPressure.Observation?>(nil)
    private let pressure: MemoryPressure?
    private let pool: PixelBufferPool

    init(pressure: MemoryPressure?, pool: PixelBufferPool) {
        self.pressure = pressure
        self.pool = pool
    }

    var count: Int { copies.withLock { $0.count } }

    subscript(index: Int) -> PixelBuffer? { copies.withLock { $0[index] } }

    /// The latest copy from before a frame, or just at it.
    func latest(upTo index: Int) -> (index: Int, picture: PixelBuffer)? {
        copies.withLock { copies in
            guard let place = copies.keys.filter({ $0 <= index }).max(), let picture = copies[place] else { return nil }
            return (place, picture)
        }
    }

    func keep(_ picture: PixelBuffer, at index: Int) {
        // Without copies there is nothing to give back.
        if count == 0, let pressure, observation.withLock({ $0 == nil }) {
            let new = pressure.observe { [weak self] _ in self?.drop() }
            observation.withLock { $0 = new }
        }
        copies.withLock { $0[index] = picture }
    }

    /// Gives the memory of all copies back to the system.
    private func drop() {
        var dropped = copies.withLock { copies in
            defer { copies = [:] }
            return copies
        }
        guard !dropped.isEmpty else { return }
        // Before the pool is emptied, which they go back to.
        dropped = [:]
        pool.drain()
    }
}
