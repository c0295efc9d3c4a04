internal import CIsolation
internal import Glibc

/// An end of the connection between a program and a worker: messages of a limited length, some of them with an open file.
///
/// A message is eight bytes, the version of the format and the length of the rest, and then a ``WireValue``. It is read into memory of the
/// reader before it is parsed. No call waits, except in the closures that are passed.
package struct WireSocket: Sendable {
    /// The version of the format. Both ends have to have the same.
    package static let version = UInt32(TINTYPE_WIRE_VERSION)
    /// The longest message: metadata and profiles are in it.
    static let maximumLength = 32 << 20
    private static let headerLength = 8

    package let descriptor: Int32

    package init(descriptor: Int32) { self.descriptor = descriptor }

    /// A failure of the connection.
    package enum Failure: Error {
        /// The other end is gone.
        case closed
        /// The other end sent something else than a message.
        case garbage
        /// The waiting end has a reason of its own to give up.
        case interrupted
        case system(Int32)
    }

    /// Waits until bytes can be received (`POLLIN`) or sent (`POLLOUT`), or throws.
    package typealias Wait = (_ events: Int32) throws(Failure) -> Void

    // MARK: Sending

    package func send(_ message: some WireValue, file: Int32 = -1, wait: Wait) throws(Failure) {
        var writer = WireWriter(headerLength: Self.headerLength)
        writer.write(message)
        let length = writer.bytes.count - Self.headerLength
        guard length <= Self.maximumLength else { throw .garbage }
        writer.replaceHeader(withUnsafeBytes(of: (Self.version, UInt32(length))) { [UInt8]($0) })
        try writer.bytes.withUnsafeBufferPointer { bytes throws(Failure) in
            var (rest, file) = (UnsafeRawBufferPointer(bytes), file)
            while let start = rest.baseAddress, rest.count > 0 {
                let count = tintype_send(descriptor, start, rest.count, file)
                if count < 0 {
                    try recover(from: errno, waitingFor: POLLOUT, wait)
                    continue
                }
                file = -1
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }

    // MARK: Receiving

    /// Receives a message from a worker, which has no files to give.
    package func receive<Message: WireValue>(_ type: Message.Type, wait: Wait) throws(Failure) -> Message {
        try receive(type, file: nil, wait: wait)
    }

    /// Receives a message, and the file that came with it, which the caller closes; -1 if there is none.
    package func receiveWithFile<Message: WireValue>(
        _ type: Message.Type, wait: Wait
    ) throws(Failure) -> (message: Message, file: Int32) {
        var file: Int32 = -1
        do throws(Failure) {
            let message = try withUnsafeMutablePointer(to: &file) { file throws(Failure) in
                try receive(type, file: file, wait: wait)
            }
            return (message, file)
        } catch {
            if file >= 0 { close(file) }
            throw error
        }
    }

    private func receive<Message: WireValue>(
        _ type: Message.Type, file: UnsafeMutablePointer<Int32>?, wait: Wait
    ) throws(Failure) -> Message {
        var header = (UInt32(0), UInt32(0))
        try withUnsafeMutableBytes(of: &header) { bytes throws(Failure) in try fill(bytes, file: file, wait: wait) }
        let (version, length) = header
        guard version == Self.version, length <= Self.maximumLength else { throw .garbage }
        var body = [UInt8](repeating: 0, count: Int(length))
        try body.withUnsafeMutableBufferPointer { bytes throws(Failure) in
            try fill(UnsafeMutableRawBufferPointer(bytes), file: nil, wait: wait)
        }
        var reader = WireReader(body)
        let message = try reader.read(type)
        guard reader.isAtEnd else { throw .garbage }
        return message
    }

    private func fill(
        _ bytes: UnsafeMutableRawBufferPointer, file: UnsafeMutablePointer<Int32>?, wait: Wait
    ) throws(Failure) {
        var rest = bytes
        while let start = rest.baseAddress, rest.count > 0 {
            var received: Int32 = -1
            let count =
                file == nil
                ? tintype_receive(descriptor, start, rest.count, nil)
                : tintype_receive(descriptor, start, rest.count, &received)
            let code = errno
            if let file, received >= 0 {
                if file.pointee >= 0 { close(file.pointee) }
                file.pointee = received
            }
            if count == 0 { throw .closed }
            if count < 0 {
                try recover(from: code, waitingFor: POLLIN, wait)
                continue
            }
            rest = UnsafeMutableRawBufferPointer(rebasing: rest[count...])
        }
    }

    private func recover(from code: Int32, waitingFor events: Int32, _ wait: Wait) throws(Failure) {
        switch code {
        case EAGAIN: try wait(events)
        case EPIPE, ECONNRESET: throw .closed
        default: throw .system(code)
        }
    }
}
