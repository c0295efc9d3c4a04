#if HTTP
internal import FoundationEssentials
internal import TintypeLoading

/// The beginnings of interrupted transfers; later transfers of the same URL continue them.
///
/// A transfer can be continued if the server identifies the bytes with a strong validator, such as an entity tag that doesn't start with
/// `W/`, and didn't compress them. The rest is requested with `Range` and `If-Range`. If the bytes have changed, the transfer starts
/// over. The joined bytes have to have the size and the entity tag that the server announced.
///
/// The newest transfers are kept in memory, up to 32 MB. Another process starts over.
package final class PartialDownloads: Sendable {
    /// The most bytes that are kept in memory.
    private static let memoryLimit = 32 * 1_024 * 1_024
    private static let maximumCount = 100

    fileprivate struct State {
        var bodies: [PartialBodyKey: PartialBody] = [:]
        /// The keys, the oldest first.
        var order: [PartialBodyKey] = []
        var bytes = 0
    }

    private let state = Lock(State())

    /// Creates an empty store.
    package init() {}

    /// Removes and returns the start of a body.
    func take(_ key: PartialBodyKey) -> PartialBody? { state.withLock { $0.remove(key) } }

    /// Keeps the start of a body. A whole body has no rest that could be requested.
    func put(_ body: PartialBody, for key: PartialBodyKey) {
        guard body.bytes.count > 0, body.bytes.count <= Self.memoryLimit,
            body.bytes.count < body.total ?? .max
        else { return }
        state.withLock { state in
            _ = state.remove(key)
            state.bodies[key] = body
            state.order.append(key)
            state.bytes += body.bytes.count
            while state.bytes > Self.memoryLimit || state.order.count > Self.maximumCount,
                let oldest = state.order.first
            {
                _ = state.remove(oldest)
            }
        }
    }

    /// Forgets a body, because it turned out to be useless.
    func discard(_ key: PartialBodyKey) { _ = state.withLock { $0.remove(key) } }
}

extension PartialDownloads.State {
    fileprivate mutating func remove(_ key: PartialBodyKey) -> PartialBody? {
        // The hash of a key takes a while, and usually there is nothing.
        guard !bodies.isEmpty, let body = bodies.removeValue(forKey: key) else { return nil }
        bytes -= body.bytes.count
        order.removeAll { $0 == key }
        return body
    }
}
#endif
