/// Copies the data of a scan without the zeros after FF, so that from then on bits have no exceptions.
enum ScanBytes {
    /// Zeros after the last byte: a block of a damaged file may be read behind it before that is noticed.
    static let padding = 512
    /// The bytes to append before cancellation is looked for again: where all of them are FF, half a millisecond.
    static let piece = 1 << 16

    /// Appends data of a file, up to a marker or the capacity, and zeros, which aren't counted.
    /// - Parameters:
    ///   - window: receives the bytes; it has ``padding`` bytes more than the capacity.
    /// - Returns: the code of the marker where the data end; `nil` if the window is full, or the file ends.
    static func append(
        _ file: Span<UInt8>, _ offset: inout Int, to window: inout MutableRawSpan, _ count: inout Int, capacity: Int
    ) -> UInt8? {
        let bytes = file.bytes
        var marker: UInt8?
        while true {
            copy(bytes, &offset, to: &window, &count, capacity: capacity)
            guard count < capacity, offset + 1 < file.count else { break }
            let code = file[offset + 1]
            guard code == 0 else {
                marker = code
                break
            }
            // A zero after FF says that it isn't a marker (B.1.1.5).
            window.storeBytes(of: 0xFF, toByteOffset: count, as: UInt8.self)
            count += 1
            offset += 2
        }
        for index in stride(from: 0, to: padding, by: 8) {
            window.storeBytes(of: 0, toByteOffset: count + index, as: UInt64.self)
        }
        return marker
    }

    /// Copies bytes up to the next FF or the capacity, eight at a time. Up to 32 bytes behind may be overwritten.
    @inline(__always)
    private static func copy(
        _ file: RawSpan, _ offset: inout Int, to window: inout MutableRawSpan, _ count: inout Int, capacity: Int
    ) {
        while offset + 32 <= file.byteCount, count + 32 <= capacity {
            var found: UInt64 = 0
            for place in 0..<4 {
                let eight = file.unsafeLoadUnaligned(fromByteOffset: offset + 8 * place, as: UInt64.self)
                window.storeBytes(of: eight, toByteOffset: count + 8 * place, as: UInt64.self)
                let zeros = ~eight
                found |= (zeros &- 0x0101_0101_0101_0101) & ~zeros
            }
            if found & 0x8080_8080_8080_8080 != 0 { break }
            offset += 32
            count += 32
        }
        while offset + 8 <= file.byteCount, count < capacity {
            let eight = file.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            window.storeBytes(of: eight, toByteOffset: count, as: UInt64.self)
            // The highest bit of each byte that was FF, and maybe of some behind the first.
            let zeros = ~eight.littleEndian
            let found = (zeros &- 0x0101_0101_0101_0101) & ~zeros & 0x8080_8080_8080_8080
            let copied = min(found.trailingZeroBitCount >> 3, capacity - count)
            offset += copied
            count += copied
            if found != 0 { return }
        }
        while offset < file.byteCount, count < capacity {
            let byte = file.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            if byte == 0xFF { return }
            window.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
            offset += 1
            count += 1
        }
    }
}
