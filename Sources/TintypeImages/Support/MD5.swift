internal import Glibc

/// The digest of RFC 1321. It isn't used for security, but for the file names of other programs' caches, and by files for
/// their metadata.
package enum MD5 {
    /// Returns the 16 bytes of the digest as 32 lowercase hexadecimal digits.
    package static func hexadecimal(_ message: some Collection<UInt8>) -> String {
        var padded = Array(message)
        let bits = UInt64(padded.count) &* 8
        padded.append(0x80)
        // Zeros up to 8 bytes before the end of a block, which hold the length.
        padded.append(contentsOf: repeatElement(0, count: (120 - padded.count % 64) % 64))
        withUnsafeBytes(of: bits.littleEndian) { padded.append(contentsOf: $0) }
        var state: SIMD4<UInt32> = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476]
        padded.withUnsafeBytes { bytes in
            for block in stride(from: 0, to: bytes.count, by: 64) {
                state &+= round(UnsafeRawBufferPointer(rebasing: bytes[block..<block + 64]), state)
            }
        }
        return String(unsafeUninitializedCapacity: 32) { digits in
            for index in 0..<16 {
                let byte = UInt8(truncatingIfNeeded: state[index / 4] >> UInt32(index % 4 * 8))
                digits[index * 2] = digit(byte >> 4)
                digits[index * 2 + 1] = digit(byte & 15)
            }
            return 32
        }
    }

    private static func round(_ block: UnsafeRawBufferPointer, _ start: SIMD4<UInt32>) -> SIMD4<UInt32> {
        var (a, b, c, d) = (start[0], start[1], start[2], start[3])
        for step in 0..<64 {
            let (mixed, word): (UInt32, Int) =
                switch step >> 4 {
                case 0: ((b & c) | (~b & d), step)
                case 1: ((d & b) | (~d & c), (5 * step + 1) & 15)
                case 2: (b ^ c ^ d, (3 * step + 5) & 15)
                default: (c ^ (b | ~d), (7 * step) & 15)
                }
            let value = UInt32(littleEndian: block.loadUnaligned(fromByteOffset: word * 4, as: UInt32.self))
            let sum = a &+ mixed &+ sines[step] &+ value
            let shift = shifts[step >> 4][step & 3]
            (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
        }
        return [a, b, c, d]
    }

    private static let shifts: [SIMD4<UInt32>] = [
        [7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21],
    ]

    /// The absolute values of the sines of 1 to 64, times 2³².
    private static let sines = (1...64).map { UInt32(truncatingIfNeeded: Int64(abs(sin(Double($0))) * 4_294_967_296)) }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }
}
