internal import Glibc

/// The entries of a memory cache for lookups: a table with open addressing that maps the hash of a key to the cell of its
/// entry. Cells never move.
///
/// Any number of threads may read it while none changes it; ``MemoryEntries`` ensures that. Its storage is behind pointers,
/// because each hit would check the bounds and the uniqueness of arrays several times.
struct MemoryTable: ~Copyable {
    /// The number of a cell.
    typealias Index = Int32

    private struct Cell {
        var key: KeyBytes
        /// The image; `nil` if the cache has only a weak reference to it.
        var image: Image.Storage?
        /// The time when the entry expires, in nanoseconds; `forever` for never.
        var deadline: Int64
        /// The slot of the entry in ``MemoryStore``.
        var slot: Slot
    }

    /// A key as bytes, the source followed by the variant. Comparing strings in memory would change their reference counts, and
    /// threads would contend for them.
    private struct KeyBytes {
        let digest: UInt64
        let bytes: UnsafeMutableRawPointer
        let sourceCount: Int
        let variantCount: Int

        init(_ key: ImageKey) {
            digest = key.digest
            let (source, variant) = (key.source.utf8, key.variant.description.utf8)
            (sourceCount, variantCount) = (source.count, variant.count)
            bytes = .allocate(byteCount: sourceCount + variantCount, alignment: 1)
            let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: sourceCount + variantCount)
            buffer.copyBytes(from: source)
            UnsafeMutableRawBufferPointer(rebasing: buffer[sourceCount...]).copyBytes(from: variant)
        }

        @inline(__always)
        func matches(_ key: ImageKey) -> Bool {
            key.digest == digest && Self.isEqual(key.source, bytes, sourceCount)
                && (variantCount == 0
                    ? key.variant.isOriginal
                    : Self.isEqual(key.variant.description, bytes + sourceCount, variantCount))
        }

        @inline(__always)
        private static func isEqual(_ string: String, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Bool {
            guard string.utf8.count == count else { return false }
            return string.utf8.withContiguousStorageIfAvailable { utf8 in
                utf8.baseAddress.map { memcmp($0, bytes, count) == 0 } ?? true
            } ?? string.utf8.elementsEqual(UnsafeRawBufferPointer(start: bytes, count: count))
        }
    }

    static let forever = Int64.max

    /// The upper half of a key's hash, combined with the number of its cell, counted from 1; 0 for an empty bucket. The number
    /// of buckets is a power of two, and at most half of them are used.
    private var buckets = UnsafeMutablePointer<UInt64>.allocate(capacity: 0)
    private var bucketCount = 0
    private var cells = UnsafeMutablePointer<Cell>.allocate(capacity: 0)
    /// The number of cells with allocated memory.
    private(set) var capacity = 0
    /// The number of cells that were ever used. Those that are free again are in `free`.
    private var cellCount = 0
    private var free: [Index] = []

    deinit {
        for position in 0..<bucketCount where buckets[position] != 0 {
            let cell = cells + Int(Self.cell(buckets[position]))
            cell.pointee.key.bytes.deallocate()
            cell.deinitialize(count: 1)
        }
        buckets.deallocate()
        cells.deallocate()
    }

    // MARK: Lookup

    /// Returns the cell of a key.
    @inline(__always)
    func find(_ key: ImageKey) -> Index? {
        guard bucketCount > 0 else { return nil }
        let tag = key.digest >> 32
        var position = Int(tag) & (bucketCount - 1)
        while true {
            let bucket = buckets[position]
            guard bucket != 0 else { return nil }
            if bucket >> 32 == tag, cells[Int(Self.cell(bucket))].key.matches(key) { return Self.cell(bucket) }
            position = (position + 1) & (bucketCount - 1)
        }
    }

    private static func bucket(_ digest: UInt64, _ index: Index) -> UInt64 {
        (digest & ~0xFFFF_FFFF) | UInt64(index + 1)
    }

    @inline(__always)
    private static func cell(_ bucket: UInt64) -> Index { Index(truncatingIfNeeded: bucket) - 1 }

    @inline(__always)
    func image(_ index: Index) -> Image.Storage? { cells[Int(index)].image }
    @inline(__always)
    func deadline(_ index: Index) -> Int64 { cells[Int(index)].deadline }
    func slot(_ index: Index) -> Slot { cells[Int(index)].slot }

    // MARK: Change

    /// Adds an entry. Its key must not be there.
    mutating func insert(_ key: ImageKey, _ image: Image.Storage?, deadline: Int64, slot: Slot) -> Index {
        let index: Index
        if let reused = free.popLast() {
            index = reused
        } else {
            if cellCount == capacity { grow() }
            index = Index(cellCount)
            cellCount += 1
        }
        (cells + Int(index)).initialize(to: Cell(key: KeyBytes(key), image: image, deadline: deadline, slot: slot))
        addBucket(Self.bucket(key.digest, index))
        return index
    }

    /// Replaces an entry with another one of the same key. Lookups find one of them at any time.
    mutating func replace(
        _ index: Index, _ image: Image.Storage?, deadline: Int64, slot: Slot
    ) -> Image.Storage? {
        let old = takeImage(index)
        let cell = cells + Int(index)
        cell.pointee.image = image
        cell.pointee.deadline = deadline
        cell.pointee.slot = slot
        return old
    }

    /// Removes and returns the image of an entry, which stays in the table.
    mutating func takeImage(_ index: Index) -> Image.Storage? { cells[Int(index)].image.take() }

    mutating func remove(_ index: Index) -> Image.Storage? {
        let image = takeImage(index)
        let key = cells[Int(index)].key
        removeBucket(Self.bucket(key.digest, index))
        key.bytes.deallocate()
        (cells + Int(index)).deinitialize(count: 1)
        free.append(index)
        return image
    }

    // MARK: Buckets

    private mutating func addBucket(_ bucket: UInt64) {
        var position = Int(bucket >> 32) & (bucketCount - 1)
        while buckets[position] != 0 { position = (position + 1) & (bucketCount - 1) }
        buckets[position] = bucket
    }

    private mutating func removeBucket(_ bucket: UInt64) {
        var hole = Int(bucket >> 32) & (bucketCount - 1)
        while buckets[hole] != bucket { hole = (hole + 1) & (bucketCount - 1) }
        // Entries that were displaced because this bucket was full move up, so that later lookups still find them.
        var position = hole
        while true {
            position = (position + 1) & (bucketCount - 1)
            let other = buckets[position]
            guard other != 0 else { break }
            let distance = (position - Int(other >> 32)) & (bucketCount - 1)
            if distance >= (position - hole) & (bucketCount - 1) {
                buckets[hole] = other
                hole = position
            }
        }
        buckets[hole] = 0
    }

    /// Doubles the capacity.
    private mutating func grow() {
        let newCapacity = max(8, capacity * 2)
        let newCells = UnsafeMutablePointer<Cell>.allocate(capacity: newCapacity)
        newCells.moveInitialize(from: cells, count: cellCount)  // All cells are in use, or the table would not grow.
        cells.deallocate()
        cells = newCells
        capacity = newCapacity
        let (oldBuckets, oldCount) = (buckets, bucketCount)
        bucketCount = 2 * newCapacity
        buckets = .allocate(capacity: bucketCount)
        buckets.initialize(repeating: 0, count: bucketCount)
        for position in 0..<oldCount where oldBuckets[position] != 0 { addBucket(oldBuckets[position]) }
        oldBuckets.deallocate()
    }
}
