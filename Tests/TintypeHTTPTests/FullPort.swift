#if HTTP
import Glibc

/// A port of this computer that answers no attempt to connect, like a host behind a firewall: its queue of connections is full.
final class FullPort: Sendable {
    struct Failure: Error {}

    private let descriptors: [Int32]

    init(host: String, port: Int) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr(host)
        address.sin_port = UInt16(port).bigEndian
        func call(_ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ socket: Int32) -> Int32 {
            withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    function(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard call(bind, listener) == 0, listen(listener, 0) == 0 else { throw Failure() }
        var clients: [Int32] = []
        for _ in 0..<4 {
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            _ = call(connect, client)
            clients.append(client)
        }
        descriptors = clients + [listener]
    }

    deinit { for descriptor in descriptors { close(descriptor) } }
}
#endif
