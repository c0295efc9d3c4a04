#if HTTP
import Foundation
import Glibc

/// A port of this computer, as the system has it: without a word of HTTP.
final class RawListener: Sendable {
    struct Failure: Error {}

    let port: Int
    private let descriptor: Int32
    private let isServed: Bool

    /// - Parameter serve: Gets each connection, on a thread of its own, and closes nothing. Without it nobody accepts connections: the system
    ///   opens them, and no byte ever comes.
    init(serve: (@Sendable (Int32) -> Void)? = nil) throws {
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
        descriptor = listener
        isServed = serve != nil
        port = Int(UInt16(bigEndian: address.sin_port))
        guard isReady else { throw Failure() }
        guard let serve else { return }
        Thread.detachNewThread {
            // Closed where it is used: another socket may soon have the number.
            defer { close(listener) }
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else {
                    if errno == EINVAL { return }  // It was shut down.
                    continue
                }
                Thread.detachNewThread {
                    defer { close(client) }
                    serve(client)
                }
            }
        }
    }

    deinit {
        // Ends the thread that accepts connections.
        shutdown(descriptor, Int32(SHUT_RDWR))
        if !isServed { close(descriptor) }
    }
}
#endif
