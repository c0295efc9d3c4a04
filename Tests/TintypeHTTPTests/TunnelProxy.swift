#if HTTP
import Foundation
import Glibc
import TintypeTesting

/// A proxy on this computer that makes tunnels to ports of this computer, whatever the host: with HTTP, or SOCKS 5 (RFC 1928).
final class TunnelProxy: Sendable {
    /// The heads of all requests.
    let heads: Watched<[String]>
    private let listener: RawListener
    var port: Int { listener.port }

    init() throws {
        let heads = Watched<[String]>([])
        self.heads = heads
        listener = try RawListener { Self.serve($0, heads) }
    }

    private static func withAddress(port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func serve(_ client: Int32, _ heads: Watched<[String]>) {
        var head: [UInt8] = []
        var byte: UInt8 = 0
        guard recv(client, &byte, 1, Int32(MSG_PEEK)) == 1 else { return }
        if byte == 5 { return serveSOCKS(client, heads) }
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8), head.count < 10_000 {
            guard read(client, &byte, 1) == 1 else { return }
            head.append(byte)
        }
        let text = String(decoding: head, as: UTF8.self)
        heads.update { $0.append(text) }
        guard let target = text.split(separator: " ").dropFirst().first,
            let port = target.split(separator: ":").last.flatMap({ UInt16($0) })
        else { return }
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(server) }
        guard withAddress(port: port, { connect(server, $0, $1) }) == 0,
            write(client, "HTTP/1.1 200 Connection established\r\n\r\n", 39) == 39
        else { return }
        relay(client, server)
    }

    private static func serveSOCKS(_ client: Int32, _ heads: Watched<[String]>) {
        func bytes(_ count: Int) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: count)
            return count == 0 || recv(client, &bytes, count, Int32(MSG_WAITALL)) == count ? bytes : nil
        }
        func send(_ bytes: [UInt8]) -> Bool { write(client, bytes, bytes.count) == bytes.count }
        // The version and the methods, of which 0 is the one without authentication; then the version, CONNECT, and a host name.
        guard let greeting = bytes(2), let methods = bytes(Int(greeting[1])), methods.contains(0),
            send([5, 0]), let request = bytes(5), request[1] == 1, request[3] == 3,
            let host = bytes(Int(request[4])), let port = bytes(2)
        else { return }
        let number = UInt16(port[0]) << 8 | UInt16(port[1])
        heads.update { $0.append("SOCKS \(String(decoding: host, as: UTF8.self)):\(number)") }
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(server) }
        guard withAddress(port: number, { connect(server, $0, $1) }) == 0,
            send([5, 0, 0, 1, 127, 0, 0, 1, 0, 0])
        else { return }
        relay(client, server)
    }

    /// Copies bytes in both directions until one side closes.
    private static func relay(_ one: Int32, _ other: Int32) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var sides = [
            pollfd(fd: one, events: Int16(POLLIN), revents: 0), pollfd(fd: other, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&sides, 2, -1) >= 0 {
            for (side, target) in [(0, other), (1, one)] where sides[side].revents != 0 {
                let count = read(sides[side].fd, &buffer, buffer.count)
                guard count > 0 else { return }
                var sent = 0
                while sent < count {
                    let done = buffer.withUnsafeBytes {
                        send(target, $0.baseAddress! + sent, count - sent, Int32(MSG_NOSIGNAL))
                    }
                    guard done > 0 else { return }
                    sent += done
                }
            }
        }
    }
}
#endif
