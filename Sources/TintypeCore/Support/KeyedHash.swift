internal import CXXHash

/// A hash that nobody outside the process can foresee: XXH3 with a secret that is drawn at random when it is first used.
///
/// A string of 64 bytes takes about 10 ns, an eighth of what Swift's own hashing takes. Who does not know the secret cannot tell
/// which strings collide, so names from outside do not slow a table down.
enum KeyedHash {
    /// What the default secret of XXH3 has; 136 are the least.
    private static let secretSize = 192

    // Sendable: the bytes are written before the constant has its value, and never after that.
    private nonisolated(unsafe) static let secret: UnsafeRawPointer = {
        let bytes = UnsafeMutablePointer<UInt64>.allocate(capacity: secretSize / 8)
        var random = SystemRandomNumberGenerator()
        for index in 0..<secretSize / 8 { bytes[index] = random.next() }
        return UnsafeRawPointer(bytes)
    }()

    /// The hash of the string's UTF-8.
    static func hash(_ string: String) -> UInt64 {
        var string = string
        return string.withUTF8 { XXH3_64bits_withSecret($0.baseAddress, $0.count, secret, secretSize) }
    }

    /// A hash of two, in their order.
    static func combine(_ first: UInt64, _ second: UInt64) -> UInt64 {
        withUnsafeBytes(of: (first, second)) { XXH3_64bits_withSecret($0.baseAddress, $0.count, secret, secretSize) }
    }
}
