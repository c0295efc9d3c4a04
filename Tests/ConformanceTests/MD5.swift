import Foundation

/// The digest that the corpora describe pixels with (RFC 1321). For comparing test data only.
func md5(_ data: Data) -> String {
    let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]
    let sines = (0..<64).map { UInt32(truncatingIfNeeded: Int64(abs(sin(Double($0 + 1))) * 4_294_967_296)) }
    var message = data
    message.append(0x80)
    message.append(Data(count: (120 - message.count % 64) % 64))
    withUnsafeBytes(of: UInt64(data.count * 8).littleEndian) { message.append(contentsOf: $0) }
    var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476]
    message.withUnsafeBytes { bytes in
        for block in stride(from: 0, to: bytes.count, by: 64) {
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            for step in 0..<64 {
                let (mix, index): (UInt32, Int) =
                    switch step / 16 {
                    case 0: ((b & c) | (~b & d), step)
                    case 1: ((d & b) | (~d & c), (5 * step + 1) % 16)
                    case 2: (b ^ c ^ d, (3 * step + 5) % 16)
                    default: (c ^ (b | ~d), (7 * step) % 16)
                    }
                let word = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: block + index * 4, as: UInt32.self))
                let sum = a &+ mix &+ sines[step] &+ word
                let shift = shifts[step / 16 * 4 + step % 4]
                (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
            }
            state[0] &+= a
            state[1] &+= b
            state[2] &+= c
            state[3] &+= d
        }
    }
    return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) } }
        .map { String(format: "%02x", $0) }.joined()
}
