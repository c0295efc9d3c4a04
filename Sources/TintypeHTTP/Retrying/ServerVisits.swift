#if HTTP
internal import FoundationEssentials
internal import TintypeLoading

/// The servers that an attempt asks: the first, and those that redirects lead to.
///
/// Each server counts for its own circuit breaker. The attempt has a slot of a single host at a time: the host of the last request.
final class ServerVisits: Sendable {
    private struct Visit {
        let url: URL
        let server: String
        let isProbe: Bool
        /// True if a request was sent.
        var isAsked = false
        /// True if it was answered.
        var hasAnswered = false
    }

    private struct State {
        var visit: Visit?
        var slot: DownloadSlots.Ticket?
        var lastServer: String?
    }

    private let servers: ServerRecords
    private let slots: DownloadSlots
    private let state = Lock(State())

    init(_ servers: ServerRecords, _ slots: DownloadSlots) {
        self.servers = servers
        self.slots = slots
    }

    /// The server of the last request; `nil` before the first.
    var lastServer: String? { state.withLock { $0.lastServer } }

    /// Starts with the first server.
    /// - Throws: ``ImageError/Code/hostUnavailable``.
    func begin(at url: URL) throws(ImageError) {
        let server = url.server
        let visit = Visit(url: url, server: server, isProbe: try servers.admit(server))
        state.withLock { $0.visit = visit }
    }

    /// Waits for a slot.
    /// - Throws: ``ImageError/Code/cancelled``.
    func acquireSlot(for load: ImageDownloader.Load) async throws(ImageError) {
        let host = load.request.url.slotHost
        var slot = slots.acquireFree(host)
        if slot == nil {
            slot = try await load.running.run { [slots] () throws(ImageError) in
                try await slots.acquire(host, load.request.priority)
            }
        }
        state.withLock { $0.slot = slot }
    }

    func releaseSlot() {
        let slot = state.withLock { state in
            defer { state.slot = nil }
            return state.slot
        }
        if let slot { slots.release(slot) }
    }

    /// Notes that a request is about to be sent, perhaps to another server. The host of the previous request has answered, with a redirect.
    ///
    /// A redirected request doesn't wait for a slot of its host, because the limits of time have started, and because the downloads that
    /// have the slots of that host may wait for the slot of the downloader that this download has. Later downloads wait for it.
    /// - Returns: the ``FoundationEssentials/URL/server`` of the request.
    /// - Throws: ``ImageError/Code/hostUnavailable`` if the other server isn't asked at present.
    func enter(_ url: URL) throws(ImageError) -> String {
        // Usually it is the first URL, and taking it apart again takes much longer than comparing it.
        let known = state.withLock { $0.visit?.url == url ? $0.visit?.server : nil }
        let server = known ?? url.server
        let previous = state.withLock { state -> Visit? in
            state.lastServer = server
            guard state.visit?.server == server else { return state.visit }
            state.visit?.isAsked = true
            return nil
        }
        guard let previous else { return server }
        // A request modifier may have changed the first URL.
        record(previous.isAsked ? nil : .cancelledTransfer, of: previous)
        if let slot = state.withLock({ $0.slot }) { slots.move(slot, to: url.slotHost) }
        do throws(ImageError) {
            let visit = Visit(url: url, server: server, isProbe: try servers.admit(server), isAsked: true)
            state.withLock { $0.visit = visit }
            return server
        } catch {
            state.withLock { $0.visit = nil }
            throw ImageError(
                error.code, stage: error.stage,
                reason: "the server redirected to \(url.shortDescription), but \(error.reason)")
        }
    }

    /// Notes that the last request was answered.
    func noteAnswer() { state.withLock { $0.visit?.hasAnswered = true } }

    /// Notes the end of the attempt.
    /// - Parameter error: `nil` for success.
    func end(_ error: ImageError?) {
        let visit = state.withLock { state in
            defer { state.visit = nil }
            return state.visit
        }
        if let visit { record(error, of: visit) }
    }

    private func record(_ error: ImageError?, of visit: Visit) {
        servers.record(error, of: visit.server, isProbe: visit.isProbe, hasAnswered: visit.hasAnswered)
    }
}

extension URL {
    /// The host for which a slot counts.
    fileprivate var slotHost: String { host()?.lowercased() ?? "" }
}
#endif
