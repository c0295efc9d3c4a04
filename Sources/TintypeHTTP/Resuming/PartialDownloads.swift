#if HTTP
internal import FoundationEssentials
internal import TintypeLoading

/// The beginnings of interrupted transfers, with which later transfers of the same URL continue.
///
/// A transfer can be continued if the server identifies the bytes with a strong validator, such as an entity tag that doesn't begin with
/// `W/`, and didn't compress them. The rest is requested with `Range` and `If-Range`. If the bytes have changed, the transfer starts
/// over. The joined bytes have to have the size and the entity tag that the server announced.
///
/// The memory keeps the newest transfers. With a directory, they are files, and also a new process continues them.
public final class PartialDownloads: Sendable {
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
    private let files: PartialFiles?

    /// True if bytes are written to files as they arrive.
    var hasFiles: Bool { files != nil }

    private init(files: PartialFiles?) { self.files = files }

    /// Keeps interrupted transfers in memory, up to 32 MB.
    public static var memory: PartialDownloads { PartialDownloads(files: nil) }

    /// Keeps interrupted transfers in files.
    ///
    /// Several processes may share a directory. Files that are older than a week are deleted, and the oldest ones above the limit.
    /// - Parameters:
    ///   - path: a directory for this purpose alone, which is created with access for the user only.
    ///   - limit: the most bytes of all files.
    public static func directory(_ path: String, limit: Int = 1_000_000_000) -> PartialDownloads {
        PartialDownloads(files: PartialFiles(directory: path, limit: limit))
    }

    /// Removes and returns the beginning of a body.
    func take(_ key: PartialBodyKey) async -> PartialBody? {
        let body = state.withLock { $0.remove(key) }
        guard let files else { return body }
        return await files.read(key) ?? body
    }

    /// Keeps the beginning of a body in memory, unless it is in a file. A whole body has no rest that could be requested.
    func put(_ body: PartialBody, for key: PartialBodyKey) {
        guard files == nil, body.bytes.count > 0, body.bytes.count <= Self.memoryLimit,
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

    /// Returns a file for a body that is about to arrive; `nil` without a directory, or if another transfer writes the same one.
    func file(
        _ key: PartialBodyKey, validator: String, owner: String, total: Int?, continuing partial: PartialBody?
    ) async -> PartialFile? {
        let head = PartialFiles.Head(validator: validator, owner: owner, total: total, digest: key.digest)
        return await files?.open(key, head, continuing: partial)
    }

    /// Removes what is known of a body, because it turned out to be useless.
    func discard(_ key: PartialBodyKey) async {
        _ = state.withLock { $0.remove(key) }
        await files?.remove(key)
    }
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
