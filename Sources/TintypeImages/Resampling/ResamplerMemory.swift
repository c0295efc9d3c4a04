/// The working memory of a ``RowResampler``: the last source rows, the sums of unfinished rows, and a row between the passes.
///
/// All of it is a single block from the pool. No memory is allocated per row.
struct ResamplerMemory {
    /// The number of blocks of 16 pixels in a source row.
    let blocks: Int
    /// The row between the two passes.
    let pairs: UnsafeMutablePointer<Int16>
    private let block: PixelMemory
    private let sumRows: Int
    private let sums: UnsafeMutablePointer<Int32>
    private let ownRows: UnsafeMutableRawPointer
    private let capacity: Int
    /// The addresses of the last `capacity` rows, twice in sequence, so that any consecutive rows are consecutive here.
    private let addresses: UnsafeMutablePointer<UnsafePointer<UInt8>?>

    /// Allocates the memory.
    /// - Parameters:
    ///   - width: the width of a source row.
    ///   - rows: the number of stored source rows.
    ///   - sumRows: the number of rows of sums; zero if none are stored.
    ///   - pool: the memory.
    init(width: Int, rows: Int, sums sumRows: Int, pool: PixelBufferPool) throws(ImageError) {
        blocks = (width + 15) / 16
        capacity = rows
        self.sumRows = sumRows
        let ownBytes = rows * blocks * 64
        let sumBytes = sumRows * blocks * 256
        let pairBytes = (blocks + 1) * 128
        let addressBytes = 2 * rows * MemoryLayout<UnsafePointer<UInt8>?>.stride
        let bytes = ownBytes + sumBytes + pairBytes + addressBytes
        guard let block = pool.take(bytes, cleared: false) else {
            throw ImageError(
                .outOfMemory, stage: .decode,
                reason: "there isn't enough memory to resample the image, which takes \(ByteCount(bytes))")
        }
        self.block = block
        ownRows = block.base
        // Coders decode into the rows. The rest is computed.
        ownRows.initializeMemory(as: UInt8.self, repeating: 0, count: ownBytes)
        sums = (ownRows + ownBytes).bindMemory(to: Int32.self, capacity: sumBytes / 4)
        pairs = (ownRows + ownBytes + sumBytes).bindMemory(to: Int16.self, capacity: pairBytes / 2)
        addresses = (ownRows + ownBytes + sumBytes + pairBytes)
            .bindMemory(to: UnsafePointer<UInt8>?.self, capacity: 2 * rows)
        // A row that never arrives is read with weight zero, so its address must be valid.
        for index in 0..<2 * rows {
            (addresses + index).initialize(to: UnsafePointer(ownRows.assumingMemoryBound(to: UInt8.self)))
        }
    }

    /// Returns the sums of a destination row.
    func sums(of y: Int) -> UnsafeMutablePointer<Int32> {
        sumRows == 0 ? sums : sums + y % sumRows * blocks * 64
    }

    /// Returns the addresses of source rows, starting with a row.
    func rows(from row: Int) -> UnsafeMutablePointer<UnsafePointer<UInt8>?> { addresses + row % capacity }

    /// Returns the memory for a source row, in place of the row `capacity` rows above it.
    func row(_ row: Int) -> UnsafeMutableRawPointer { ownRows + row % capacity * blocks * 64 }

    /// Stores the address of a source row.
    func keep(_ source: UnsafeRawPointer, at row: Int) {
        let slot = row % capacity
        let address = source.assumingMemoryBound(to: UInt8.self)
        addresses[slot] = address
        addresses[slot + capacity] = address
    }
}
