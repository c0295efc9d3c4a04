internal import FoundationEssentials
internal import TintypeLoading

/// The slots of each host, for downloaders that limit the transfers per host.
///
/// A download gets a slot of its host first, so that the downloads of a slow host don't occupy the slots of all hosts.
final class HostSlots: Sendable {
    /// A slot of a host.
    struct Ticket: Sendable {
        fileprivate let host: String
        fileprivate let ticket: DownloadSlots.Ticket
    }

    private struct Host {
        let slots: DownloadSlots
        /// The number of downloads that have a slot, or wait for a slot.
        var users = 0
    }

    private let limit: Int
    private let order: DownloadOrder
    private let hosts = Lock<[String: Host]>([:])

    init(limit: Int, order: DownloadOrder) {
        self.limit = limit
        self.order = order
    }

    var waitingCount: Int {
        hosts.withLock { Array($0.values) }.reduce(0) { $0 + $1.slots.counts.waiting }
    }

    /// Waits for a slot of the URL's host.
    /// - Throws: ``ImageError/Code/cancelled``.
    func acquire(_ url: URL, _ priority: WorkPriority) async throws(ImageError) -> Ticket {
        let name = Self.name(url)
        let slots = join(name)
        do throws(ImageError) {
            return Ticket(host: name, ticket: try await slots.acquire(priority))
        } catch {
            leave(name)
            throw error
        }
    }

    func release(_ ticket: Ticket) {
        hosts.withLock { $0[ticket.host]?.slots }?.release(ticket.ticket)
        leave(ticket.host)
    }

    /// Releases a slot, and takes a slot of another host without waiting, even beyond its limit.
    func move(_ ticket: Ticket, to url: URL) -> Ticket {
        let name = Self.name(url)
        guard name != ticket.host else { return ticket }
        let moved = Ticket(host: name, ticket: join(name).occupy())
        release(ticket)
        return moved
    }

    private static func name(_ url: URL) -> String { url.host()?.lowercased() ?? "" }

    private func join(_ name: String) -> DownloadSlots {
        hosts.withLock { hosts in
            var host = hosts[name] ?? Host(slots: DownloadSlots(limit: limit, order: order))
            host.users += 1
            hosts[name] = host
            return host.slots
        }
    }

    private func leave(_ name: String) {
        hosts.withLock { hosts in
            hosts[name]?.users -= 1
            if hosts[name]?.users == 0 { hosts[name] = nil }
        }
    }
}
