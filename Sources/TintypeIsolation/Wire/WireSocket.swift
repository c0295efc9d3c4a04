internal import CIsolation
internal import FoundationEssentials
internal import Glibc

/// An end of the connection between a program and a worker: messages of a limited length, some of them with an open file.
///
/// A message is the two lengths of a ``WireContent``, with four bytes each, and then its parts. It is read into memory of the reader before it
/// is parsed. No call waits, except in the closures that are passed.
package struct WireSocket: Sendable {
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

    package func send(_ message: some Encodable, file: Int32 = -1, wait: Wait) throws(Failure) {
        let content = try WireContent(message)
        let lengths = (UInt32(content.text.count), UInt32(content.blocks.count))
        let bytes = withUnsafeBytes(of: lengths) { [UInt8]($0) } + content.text + content.blocks
        try bytes.withUnsafeBufferPointer { bytes throws(Failure) in
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

    /// Receives a message.
    /// - Parameter file: becomes the file that comes along, which the caller closes. A worker has no files to give.
    package func receive<Message: Decodable>(
        _ type: Message.Type, file: UnsafeMutablePointer<Int32>? = nil, wait: Wait
    ) throws(Failure) -> Message {
        var header = (UInt32(0), UInt32(0))
        try withUnsafeMutableBytes(of: &header) { bytes throws(Failure) in try fill(bytes, file: file, wait: wait) }
        let (text, blocks) = header
        guard text <= WireContent.maximumText, blocks <= WireContent.maximumBlocks else { throw .garbage }
        let content = WireContent(text: try data(Int(text), wait), blocks: try data(Int(blocks), wait))
        return try content.message(type)
    }

    /// Receives a part of a message.
    private func data(_ count: Int, _ wait: Wait) throws(Failure) -> Data {
        // The system gives pages of cleared memory as bytes come: an announcement alone costs nothing.
        var data = Data(count: count)
        let result = data.withUnsafeMutableBytes { bytes in
            Result { () throws(Failure) -> Void in try fill(bytes, file: nil, wait: wait) }
        }
        try result.get()
        return data
    }

    private func fill(
        _ bytes: UnsafeMutableRawBufferPointer, file: UnsafeMutablePointer<Int32>?, wait: Wait
    ) throws(Failure) {
        var rest = bytes
        while let start = rest.baseAddress, rest.count > 0 {
            let count = tintype_receive(descriptor, start, rest.count, file)
            if count == 0 { throw .closed }
            if count < 0 {
                try recover(from: errno, waitingFor: POLLIN, wait)
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
