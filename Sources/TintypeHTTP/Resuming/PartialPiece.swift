#if HTTP
internal import CZlib
internal import FoundationEssentials
internal import Glibc

/// A piece of a body in a file: its length and checksum of four bytes each, and its bytes.
enum PartialPiece {
    static let maximumBytes = 1_048_576
    private static let headBytes = 8

    /// Returns the length and the checksum of a piece. The checksum also covers the length.
    static func head(_ piece: Data) -> Data {
        let length = bytes(UInt32(piece.count))
        return length + bytes(checksum(Array(length), piece))
    }

    /// Reads a piece.
    /// - Returns: its bytes, and the offset of its end; `nil` if it is cut or damaged.
    static func read(_ file: Int32, at offset: Int) -> (bytes: Data, end: Int)? {
        guard let head = read(file, at: offset, count: headBytes), let count = length(head),
            let bytes = read(file, at: offset + headBytes, count: count), self.head(bytes) == head
        else { return nil }
        return (bytes, offset + headBytes + count)
    }

    /// Returns the offset of the end of the pieces that hold so many bytes of a body; `nil` if there are no such pieces.
    static func end(_ file: Int32, from start: Int, bodyBytes: Int) -> Int? {
        var (offset, rest) = (start, bodyBytes)
        while rest > 0 {
            guard let count = read(file, at: offset, count: headBytes).flatMap({ length($0) }), count <= rest else {
                return nil
            }
            offset += headBytes + count
            rest -= count
        }
        return offset
    }

    /// CRC-32, as in gzip.
    static func checksum(_ first: [UInt8], _ second: Data = Data()) -> UInt32 {
        let start = first.withUnsafeBytes { checksum($0, continuing: 0) }
        return UInt32(truncatingIfNeeded: second.withUnsafeBytes { checksum($0, continuing: start) })
    }

    private static func checksum(_ bytes: UnsafeRawBufferPointer, continuing checksum: UInt) -> UInt {
        // With no address, zlib begins anew.
        guard let base = bytes.bindMemory(to: Bytef.self).baseAddress, !bytes.isEmpty else { return checksum }
        return crc32_z(checksum, base, bytes.count)
    }

    private static func length(_ head: Data) -> Int? {
        let length = Int(head.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
        return (1...maximumBytes).contains(length) ? length : nil
    }

    private static func bytes(_ number: UInt32) -> Data { withUnsafeBytes(of: number.bigEndian) { Data($0) } }

    private static func read(_ file: Int32, at offset: Int, count: Int) -> Data? {
        var bytes = Data(count: count)
        let isComplete = bytes.withUnsafeMutableBytes { buffer in
            var done = 0
            while done < count, let base = buffer.baseAddress {
                let part = pread(file, base + done, count - done, off_t(offset + done))
                if part < 0, errno == EINTR { continue }
                guard part > 0 else { return false }
                done += part
            }
            return true
        }
        return isComplete ? bytes : nil
    }
}
#endif
