import Foundation
import TintypeTesting

/// Bytes that say which they are, and of which any other byte would be noticed.
public enum CacheWriterPayload {
    public static func bytes(_ number: Int, serial: UInt64, count: Int) -> Data {
        var generator = SeededRandom(seed: serial &* 1_000_003 &+ UInt64(number))
        var data = Data(capacity: count + 8)
        withUnsafeBytes(of: serial) { data.append(contentsOf: $0) }
        while data.count < count { withUnsafeBytes(of: generator.next()) { data.append(contentsOf: $0) } }
        return data.prefix(count)
    }

    /// The serial of a payload; `nil` if it is not one of this number, whole and unchanged.
    public static func serial(of data: Data, _ number: Int) -> UInt64? {
        guard data.count >= 8 else { return nil }
        let serial = data.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        return bytes(number, serial: serial, count: data.count) == data ? serial : nil
    }
}
