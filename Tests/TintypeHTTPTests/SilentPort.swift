#if HTTP
import Glibc

/// A port of this computer whose connections nobody accepts. The system opens them, and no byte ever comes.
final class SilentPort: Sendable {
    struct Failure: Error {}

    let port: Int
    private let listener: Int32

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isReady = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, address, &size) == 0
            }
        }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        guard isReady else { throw Failure() }
    }

    deinit { close(listener) }
}
#endif
