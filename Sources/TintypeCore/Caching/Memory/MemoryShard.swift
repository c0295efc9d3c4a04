internal import Glibc

/// The part of a memory cache's entries that threads look up under one lock: what a hit needs, and nothing else.
///
/// A hit changes no order. It notes when the entry was used, once for each entry however often that is; ``MemoryStore`` takes the
/// notes before it decides anything by them, and puts those of all shards in the order of their time.
///
/// Entries are in cells, which stay where they are; a table with open addressing leads from the hash of a key to its cell.
/// Behind pointers, because arrays would be checked for their bounds and for being shared several times in each hit.
struct MemoryShard: ~Copyable {
    /// The number of a cell.
    typealias Index = Int32

    private struct Cell {
        var key: KeyBytes
        /// `nil` if only somebody else keeps the image.
        var image: Image.Storage?
        /// When the entry ends, in nanoseconds; `forever` for never.
        var deadline: Int64
        /// Where ``MemoryStore`` has the entry.
        var slot: Slot
        /// Where the note of its use is; none if there is none.
        var note = Index(-1)
    }

    /// A key as bytes, source and variant one after the other. To compare strings that are in memory, Swift would count
    /// references to them up and down, which costs more than to compare them.
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

    private struct Note {
        var tick: UInt64
        var cell: Index
        var count: Int32
    }

    /// A use of an entry, or several, of which the last counts.
    struct Use {
        var tick: UInt64
        var slot: Slot
        var count: Int32
    }

    /// What a lookup that has to be quick can tell.
    enum Lookup {
        case hit(Image.Storage)
        /// A hit, after which there are so many notes that they should be taken.
        case fullHit(Image.Storage)
        case miss
        /// There is an entry, but it is too old, or only somebody else keeps its image.
        case unsure
    }

    static let forever = Int64.max
    /// The notes that a shard collects before a hit has them taken.
    private static let fullNotes = 256
    /// More uses count no more.
    private static let mostUses: Int32 = 1_000

    private(set) var hits = 0
    private(set) var misses = 0

    /// The upper half of a key's hash above the number of its cell, counted from 1; 0 where there is nothing. A power of
    /// two, at most half of them taken.
    private var buckets = UnsafeMutablePointer<UInt64>.allocate(capacity: 0)
    private var bucketCount = 0
    private var cells = UnsafeMutablePointer<Cell>.allocate(capacity: 0)
    private var capacity = 0
    /// Cells that were ever used; those among them that are free are in `free`.
    private var cellCount = 0
    private var free: [Index] = []
    /// As many as cells.
    private var notes = UnsafeMutablePointer<Note>.allocate(capacity: 0)
    private(set) var noteCount = 0

    deinit {
        for position in 0..<bucketCount where buckets[position] != 0 {
            let cell = cells + Int(Self.cell(buckets[position]))
            cell.pointee.key.bytes.deallocate()
            cell.deinitialize(count: 1)
        }
        buckets.deallocate()
        cells.deallocate()
        notes.deallocate()
    }

    // MARK: Lookup

    @inline(__always)
    mutating func lookUp(_ key: ImageKey, now: () -> Int64) -> Lookup {
        guard let index = find(key) else {
            misses += 1
            return .miss
        }
        let cell = cells + Int(index)
        guard let image = cell.pointee.image,
            cell.pointee.deadline == Self.forever || cell.pointee.deadline > now()
        else { return .unsure }
        hits += 1
        noteUse(index)
        return noteCount < Self.fullNotes ? .hit(image) : .fullHit(image)
    }

    @inline(__always)
    private mutating func noteUse(_ index: Index) {
        let tick = Ticks.now
        let note = Int(cells[Int(index)].note)
        if note >= 0 {
            notes[note].tick = tick
            if notes[note].count < Self.mostUses { notes[note].count += 1 }
        } else {
            notes[noteCount] = Note(tick: tick, cell: index, count: 1)
            cells[Int(index)].note = Index(noteCount)
            noteCount += 1
        }
    }

    mutating func countHit() { hits += 1 }
    mutating func countMiss() { misses += 1 }

    /// The cell of a key.
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

    func slot(_ index: Index) -> Slot { cells[Int(index)].slot }
    func image(_ index: Index) -> Image.Storage? { cells[Int(index)].image }
    func deadline(_ index: Index) -> Int64 { cells[Int(index)].deadline }

    /// Moves the notes to the end of an array.
    mutating func takeUses(_ uses: inout [Use]) {
        for position in 0..<noteCount {
            let note = notes[position]
            let cell = cells + Int(note.cell)
            cell.pointee.note = -1
            uses.append(Use(tick: note.tick, slot: cell.pointee.slot, count: note.count))
        }
        noteCount = 0
    }

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

    /// Puts another entry of the same key in the place of one, so that nobody finds none meanwhile.
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

    /// Takes the image out of an entry, which stays.
    mutating func takeImage(_ index: Index) -> Image.Storage? {
        dropNote(index)
        return cells[Int(index)].image.take()
    }

    mutating func remove(_ index: Index) -> Image.Storage? {
        let image = takeImage(index)
        let key = cells[Int(index)].key
        removeBucket(Self.bucket(key.digest, index))
        key.bytes.deallocate()
        (cells + Int(index)).deinitialize(count: 1)
        free.append(index)
        return image
    }

    private mutating func dropNote(_ index: Index) {
        let note = Int(cells[Int(index)].note)
        guard note >= 0 else { return }
        noteCount -= 1
        notes[note] = notes[noteCount]
        cells[Int(notes[note].cell)].note = Index(note)
        cells[Int(index)].note = -1
    }

    // MARK: Table

    private mutating func addBucket(_ bucket: UInt64) {
        var position = Int(bucket >> 32) & (bucketCount - 1)
        while buckets[position] != 0 { position = (position + 1) & (bucketCount - 1) }
        buckets[position] = bucket
    }

    private mutating func removeBucket(_ bucket: UInt64) {
        var hole = Int(bucket >> 32) & (bucketCount - 1)
        while buckets[hole] != bucket { hole = (hole + 1) & (bucketCount - 1) }
        // What could not be put where it belonged because something was here moves up, so that nothing is in its way later.
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

    /// Doubles the room.
    private mutating func grow() {
        let newCapacity = max(8, capacity * 2)
        let newCells = UnsafeMutablePointer<Cell>.allocate(capacity: newCapacity)
        newCells.moveInitialize(from: cells, count: cellCount)  // All are taken, or there would be room.
        cells.deallocate()
        cells = newCells
        let newNotes = UnsafeMutablePointer<Note>.allocate(capacity: newCapacity)
        newNotes.moveInitialize(from: notes, count: noteCount)
        notes.deallocate()
        notes = newNotes
        capacity = newCapacity
        let (oldBuckets, oldCount) = (buckets, bucketCount)
        bucketCount = 2 * newCapacity
        buckets = .allocate(capacity: bucketCount)
        buckets.initialize(repeating: 0, count: bucketCount)
        for position in 0..<oldCount where oldBuckets[position] != 0 { addBucket(oldBuckets[position]) }
        oldBuckets.deallocate()
    }
}
