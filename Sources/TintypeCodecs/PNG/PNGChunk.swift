internal import FoundationEssentials
internal import TintypeImages

/// Writes chunks (PNG, third edition, section 5.3).
enum PNGChunk {
    static func bigEndian(_ value: Int) -> [UInt8] { BigEndian.bytes(value, 4) }

    /// Length, type, contents and checksum.
    static func append(_ type: PNGChunks.ChunkType, _ contents: some Collection<UInt8>, to file: inout Data) {
        file.append(contentsOf: bigEndian(contents.count))
        let start = file.count
        file.append(contentsOf: type.bytes)
        file.append(contentsOf: contents)
        let sum = file.withUnsafeBytes { Inflater.checksum(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        file.append(contentsOf: bigEndian(Int(sum)))
    }
}
