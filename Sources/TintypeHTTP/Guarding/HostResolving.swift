#if HTTP
internal import CLinux
internal import Glibc
package import TintypeLoading

/// Finds the addresses of a host.
package protocol HostResolving: Sendable {
    /// Returns the addresses of a host, the preferred first.
    /// - Parameter host: a name, or an address in any form that the system accepts. Addresses of version 6 have no brackets.
    /// - Throws: ``ImageError/Code/connectionFailed`` if the host is unknown.
    func addresses(of host: String) async throws(ImageError) -> [IPAddress]
}

/// The resolver of the system (`getaddrinfo`).
struct SystemHostResolver: HostResolving {
    /// A resolver blocks for many seconds if no name server answers. So it has threads of its own, and many of them, because anybody
    /// can have a slow name server.
    private static let queue = WorkQueue(label: "resolving", width: 32)

    func addresses(of host: String) async throws(ImageError) -> [IPAddress] {
        // The system's function can't be canceled. The caller stops waiting, and the answer is ignored.
        let (answers, continuation) = AsyncStream.makeStream(of: Result<[IPAddress], ImageError>.self)
        let task = Task {
            let answer = await Result { () async throws(ImageError) in
                try await Self.queue.perform { _ throws(ImageError) in try Self.lookUp(host) }
            }
            continuation.yield(answer)
        }
        defer { task.cancel() }
        for await answer in answers { return try answer.get() }
        throw .cancelledTransfer
    }

    private static func lookUp(_ host: String) throws(ImageError) -> [IPAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, nil, &hints, &list)
        guard status == 0 else {
            throw ImageError(
                .connectionFailed, stage: .load,
                reason: "\(ImageError.noAddress): \(String(cString: gai_strerror(status)))")
        }
        defer { freeaddrinfo(list) }
        var addresses: [IPAddress] = []
        var next = list
        while let entry = next {
            if let address = address(of: entry.pointee), !addresses.contains(address) { addresses.append(address) }
            next = entry.pointee.ai_next
        }
        return addresses
    }

    private static func address(of entry: addrinfo) -> IPAddress? {
        guard let raw = UnsafeRawPointer(entry.ai_addr) else { return nil }
        switch entry.ai_family {
        case AF_INET:
            var address = raw.loadUnaligned(as: sockaddr_in.self).sin_addr
            return IPAddress(bytes: withUnsafeBytes(of: &address) { Array($0) })
        case AF_INET6:
            var address = raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            return IPAddress(bytes: withUnsafeBytes(of: &address) { Array($0) })
        default: return nil
        }
    }
}
#endif
