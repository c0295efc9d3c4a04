internal import Glibc
internal import Synchronization

/// A hash table in a file that all processes of a cache have in memory: which keys there are, and what their files are
/// called.
///
/// A lookup reads a word or two of it, without a lock and without a call to the system: most misses end here, and a hit
/// goes straight to its file, which says all that the index knows. Beside the slots it has a short list of the files
/// whose rows are not in the index yet. It can be lost: it is made again from the index.
///
/// A slot is the id of a file, 0 if it is empty, or 1 if it was. The lower 20 bits of an id are bits of its key's hash
/// (``DiskLayout/newID(at:hash:)``), so that a foreign slot on the way is taken for a wanted one once in a million; the
/// file then says whose it is. A key can have two slots for a moment, while its entry is replaced: the higher id counts.
///
/// Whoever changes it holds the ``WriteLock`` of the cache. Each step leaves something that readers can use, and what a
/// process that was killed between two steps leaves is either right (``append(_:hash:bytes:)``) or marked
/// (``isChanging``).
// Sendable: readers look at atomic words only; the other ones are reached under the write lock alone.
final class EntryTable: @unchecked Sendable {
    /// So many files may wait for their rows.
    static let maximumPending = 448
    static let minimumSlots = 1 << 11
    static let magic: UInt64 = 0x5469_6E74_5461_6201  // "TintTab", version 1

    private static let headerSize = 4_096
    private static let pendingOffset = 512
    private static let removed: UInt64 = 1

    /// The words of the header. Numbers of 8 bytes, in the machine's order.
    private enum Word: Int {
        case magic, slots, isComplete, isChanging, live, used, pending, pendingBytes, epoch, indexInode, entries, bytes
    }

    /// The file, to notice that another took its place.
    let inode: UInt64
    let isWritable: Bool
    private let memory: UnsafeMutableRawPointer
    private let byteCount: Int
    private let slots: UnsafeMutablePointer<Atomic<UInt64>>
    private let mask: Int

    private init(memory: UnsafeMutableRawPointer, byteCount: Int, inode: UInt64, isWritable: Bool) {
        self.isWritable = isWritable
        self.memory = memory
        self.byteCount = byteCount
        self.inode = inode
        slots = (memory + Self.headerSize).assumingMemoryBound(to: Atomic<UInt64>.self)
        mask = (byteCount - Self.headerSize) / 8 - 1
    }

    deinit { munmap(memory, byteCount) }

    // MARK: Files

    /// Opens a table; `nil` if there is none, or it is none.
    static func open(_ path: String) -> EntryTable? {
        var isWritable = true
        var file = Glibc.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        if file < 0 {
            isWritable = false
            file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        }
        guard file >= 0 else { return nil }
        defer { close(file) }
        return map(file, isWritable: isWritable)
    }

    /// Makes a table that is not complete yet, under a name where no other process finds it.
    static func create(_ path: String, slots: Int) -> EntryTable? {
        unlink(path)
        let file = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let size = headerSize + slots * 8
        // Not a hole: on a full disk, writing to the memory of one would end the process.
        guard posix_fallocate(file, 0, size) == 0 else { return nil }
        var words = [magic, UInt64(slots)]
        guard pwrite(file, &words, 16, 0) == 16 else { return nil }
        return map(file, isWritable: true)
    }

    private static func map(_ file: Int32, isWritable: Bool) -> EntryTable? {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let size = Int(status.st_size)
        let count = (size - headerSize) / 8
        guard size >= headerSize + minimumSlots * 8, size == headerSize + count * 8, count & (count - 1) == 0 else {
            return nil
        }
        let protection = isWritable ? PROT_READ | PROT_WRITE : PROT_READ
        guard let memory = mmap(nil, size, protection, MAP_SHARED, file, 0), memory != MAP_FAILED else { return nil }
        let table = EntryTable(memory: memory, byteCount: size, inode: UInt64(status.st_ino), isWritable: isWritable)
        guard table[.magic] == magic, table[.slots] == UInt64(count) else { return nil }
        return table
    }

    /// Waits until the table is on disk.
    func synchronize() { msync(memory, byteCount, MS_SYNC) }

    // MARK: Header

    private func atomic(_ word: Word) -> UnsafeMutablePointer<Atomic<UInt64>> {
        (memory + word.rawValue * 8).assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    private subscript(word: Word) -> UInt64 {
        get { atomic(word).pointee.load(ordering: .acquiring) }
        set { atomic(word).pointee.store(newValue, ordering: .releasing) }
    }

    private subscript(integer word: Word) -> Int {
        get { Int(truncatingIfNeeded: self[word]) }
        set { self[word] = UInt64(truncatingIfNeeded: newValue) }
    }

    /// Whether the table knows every entry. Else, and once another table took its place, it says nothing.
    var isComplete: Bool {
        get { self[.isComplete] == 1 }
        set { self[.isComplete] = newValue ? 1 : 0 }
    }

    /// Set while index and table change together. Whoever has the write lock and finds it set makes the table again.
    var isChanging: Bool {
        get { self[.isChanging] == 1 }
        set { self[.isChanging] = newValue ? 1 : 0 }
    }

    /// The index that the table was made from.
    var indexInode: UInt64 {
        get { self[.indexInode] }
        set { self[.indexInode] = newValue }
    }

    /// Grows whenever everything is removed.
    var epoch: UInt64 { self[.epoch] }

    /// What the index has.
    var indexed: CacheUsage {
        get { CacheUsage(entries: self[integer: .entries], bytes: self[integer: .bytes]) }
        set {
            self[integer: .entries] = newValue.entries
            self[integer: .bytes] = newValue.bytes
        }
    }

    /// What there is at most: entries that are about to be replaced count twice.
    var usage: CacheUsage {
        CacheUsage(
            entries: self[integer: .entries] + pendingCount, bytes: self[integer: .bytes] + self[integer: .pendingBytes]
        )
    }

    /// The slots that are taken.
    var live: Int { self[integer: .live] }

    /// Whether so many more entries would make lookups slow.
    func isCrowded(adding count: Int) -> Bool { (self[integer: .used] + count) * 8 > (mask + 1) * 5 }

    // MARK: Slots

    /// Spreads the bits of a key's hash, whose parts are the same for all variants of a source, or all originals.
    static func mixed(_ hash: Int64) -> UInt64 {
        var value = UInt64(bitPattern: hash)
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    /// What the lower bits of the ids of a key's files are.
    static func tag(_ hash: Int64) -> Int64 { Int64(mixed(hash) >> 44) }

    /// The id of the newest file that may be a key's, of those older than `bound`.
    func newest(_ hash: Int64, before bound: Int64 = .max) -> Int64? {
        let tag = Self.tag(hash)
        var found: Int64 = -1
        probe(hash) { _, value in
            let id = Int64(bitPattern: value)
            if id & DiskLayout.tagMask == tag, id > found, id < bound, value != Self.removed { found = id }
            return true
        }
        return found < 0 ? nil : found
    }

    func contains(_ id: Int64, hash: Int64) -> Bool { newest(hash, before: id + 1) == id }

    /// Whether the file is there and no other may be its key's.
    func isOnly(_ id: Int64, hash: Int64) -> Bool { newest(hash) == id && newest(hash, before: id) == nil }

    /// Goes through the slots in which a key can be until `body` returns false, and tells where that was, or where the
    /// first empty slot is.
    @discardableResult
    private func probe(_ hash: Int64, _ body: (Int, UInt64) -> Bool) -> Int? {
        var position = Int(truncatingIfNeeded: Self.mixed(hash)) & mask
        for _ in 0...mask {
            let value = slots[position].load(ordering: .acquiring)
            if value == 0 || !body(position, value) { return position }
            position = (position + 1) & mask
        }
        return nil
    }

    /// Adds a file unless it is there.
    func insert(_ id: Int64, hash: Int64) {
        let value = UInt64(bitPattern: id)
        var free: Int?
        var isThere = false
        let end = probe(hash) { position, found in
            if found == Self.removed, free == nil { free = position }
            isThere = found == value
            return !isThere
        }
        guard !isThere, let position = free ?? end else { return }
        if free == nil { self[integer: .used] += 1 }
        self[integer: .live] += 1
        slots[position].store(value, ordering: .releasing)
    }

    func remove(_ id: Int64, hash: Int64) {
        let value = UInt64(bitPattern: id)
        var isThere = false
        let place = probe(hash) { _, found in
            isThere = found == value
            return !isThere
        }
        guard isThere, var position = place else { return }
        self[integer: .live] -= 1
        slots[position].store(Self.removed, ordering: .releasing)
        // Before an empty slot nobody needs to be led on.
        guard slots[(position + 1) & mask].load(ordering: .relaxed) == 0 else { return }
        while slots[position].load(ordering: .relaxed) == Self.removed {
            slots[position].store(0, ordering: .releasing)
            self[integer: .used] -= 1
            position = (position - 1) & mask
        }
    }

    /// Forgets everything.
    func removeAll() {
        self[.epoch] += 1
        for position in 0...mask { slots[position].store(0, ordering: .relaxed) }
        (self[.live], self[.used]) = (0, 0)
        removePending()
    }

    // MARK: Files without rows

    var pendingCount: Int { min(self[integer: .pending], Self.maximumPending) }

    private var pendingSlots: UnsafeMutablePointer<Int64> {
        (memory + Self.pendingOffset).assumingMemoryBound(to: Int64.self)
    }

    /// The files whose rows are not in the index, in the order in which they were stored.
    var pending: [Int64] { (0..<pendingCount).map { pendingSlots[$0] } }

    /// Makes a complete file an entry. Killed before the count grows, a process leaves a file that nobody knows; killed
    /// after that, an entry that becomes visible when the next one writes.
    func append(_ id: Int64, hash: Int64, bytes: Int) {
        let count = pendingCount
        pendingSlots[count] = id
        self[integer: .pendingBytes] += bytes
        self[integer: .pending] = count + 1
        insert(id, hash: hash)
    }

    func removePending() {
        self[.pending] = 0
        self[.pendingBytes] = 0
    }

    /// Continues the count of a table that this one replaces.
    func continueEpoch(of other: EntryTable) { self[.epoch] = other.epoch + 1 }
}

/// Lets one process at a time change the index, the table and what they say of the files. Ends with the process.
final class WriteLock {
    private let file: Int32

    /// - Parameter path: a file that is made if need be and stays.
    init?(_ path: String) {
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return nil }
    }

    deinit { close(file) }

    /// - Parameter mayWait: whether to wait for another process, for five seconds at most.
    /// - Returns: false if another process did not let go of it.
    func lock(mayWait: Bool) -> Bool {
        for _ in 0..<(mayWait ? 25_000 : 1) {
            if flock(file, LOCK_EX | LOCK_NB) == 0 { return true }
            // Without locks, as on some network file systems, one process at a time is all that is safe; go on.
            guard errno == EWOULDBLOCK || errno == EINTR else { return true }
            if mayWait { usleep(200) }
        }
        return false
    }

    /// Whether nobody holds it now.
    var isFree: Bool {
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else { return false }
        unlock()
        return true
    }

    func unlock() { flock(file, LOCK_UN) }
}
