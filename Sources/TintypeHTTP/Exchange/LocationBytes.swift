#if HTTP
internal import NIOCore
internal import NIOHTTP1
internal import TintypeLoading

/// Restores the bytes of a `Location` that isn't UTF-8, such as names in Latin-1, which browsers and curl request as they are.
///
/// swift-nio puts U+FFFD in the place of such bytes. Where the bytes of the head are known, escapes take their place. They aren't over
/// HTTP/2, whose header fields are compressed.
enum LocationBytes {
    /// Writes escapes for the bytes of a location that were replaced.
    /// - Parameters:
    ///   - headers: the fields of a head as they were parsed.
    ///   - head: the bytes of the head, perhaps with others behind it.
    static func restore(in headers: inout HTTPHeaders, of head: ByteBuffer) {
        guard let location = headers.first(name: "location"), RedirectPolicy.isRepaired(location) else { return }
        for line in head.readableBytesView.split(separator: UInt8(ascii: "\n")) {
            guard line.prefix(start.count).elementsEqual(start, by: { $0 | 0x20 == $1 }) else { continue }
            let value = line.dropFirst(start.count).filter { $0 != UInt8(ascii: "\r") }
            guard String(decoding: value, as: UTF8.self).trimmed == location.trimmed else { continue }
            return headers.replaceOrAdd(name: "location", value: String(escapingURL: value).trimmed)
        }
    }

    /// The start of the line, in lowercase.
    private static let start = Array("location:".utf8)
}
#endif
