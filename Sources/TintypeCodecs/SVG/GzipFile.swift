#if SVG
internal import CDeflate
internal import FoundationEssentials
internal import TintypeImages

/// Documents that are compressed with gzip (RFC 1952), as files with the extension `svgz` are.
enum GzipFile {
    static func isOne(_ data: Data) -> Bool { data.starts(with: [0x1F, 0x8B]) }

    /// Unpacks a file.
    /// - Throws: ``ImageError/Code/limitExceeded`` for more than `maximumBytes`, ``ImageError/Code/corruptImage``.
    static func unpack(_ data: Data, maximumBytes: Int) throws(ImageError) -> Data {
        guard let handle = libdeflate_alloc_decompressor() else {
            throw ImageError(.outOfMemory, stage: .decode, reason: "there isn't enough memory to decompress the SVG")
        }
        defer { libdeflate_free_decompressor(handle) }
        // The file ends with its unpacked length, modulo 2³², unless other bytes follow.
        let stated = data.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        for capacity in [min(max(stated, 4_096), maximumBytes), maximumBytes] {
            var bytes = Data(count: capacity)
            var count = 0
            let result = bytes.withUnsafeMutableBytes { target in
                data.withUnsafeBytes { source in
                    libdeflate_gzip_decompress(
                        handle, source.baseAddress, source.count, target.baseAddress, target.count, &count)
                }
            }
            switch result {
            case LIBDEFLATE_SUCCESS:
                // librsvg would unpack once more, past all limits.
                guard !isOne(bytes) else { throw .corrupt("the SVG is compressed twice") }
                return bytes.prefix(count)
            case LIBDEFLATE_INSUFFICIENT_SPACE: continue
            default: throw .corrupt("the compressed SVG is damaged")
            }
        }
        throw SVGContents.refusal("is decompressed to more than the limit of \(ByteCount(maximumBytes))")
    }
}
#endif
