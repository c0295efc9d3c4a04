/// Where things are in the directory of a disk cache.
struct DiskLayout: Sendable, Hashable {
    let directory: String
    // Kept, because they are asked for at each store and each look for what is not there.
    let index: String
    /// The files of the entries, in ``DiskIndexSchema/shards`` directories.
    let data: String

    init(directory: String) {
        self.directory = directory
        index = directory + "/index.sqlite"
        data = directory + "/data"
    }

    /// Held while the index is opened, made or replaced.
    var lock: String { directory + "/lock" }
    /// Held while the index or the table change.
    var writeLock: String { directory + "/write-lock" }
    /// The ``EntryTable``.
    var table: String { directory + "/table" }
    /// A table that is being made.
    var newTable: String { directory + "/table.new" }
    /// There if some entries are known by the digests of their keys alone (``SDWebImageName``).
    var imports: String { directory + "/imports" }
    /// Tells programs that make backups to leave the directory out.
    var tag: String { directory + "/CACHEDIR.TAG" }
    /// Where a damaged index goes: one is kept, for whoever wants to see what happened.
    var damagedIndex: String { directory + "/index.damaged" }

    /// What ``data`` is renamed to when everything is removed at once.
    func trash(_ id: Int64) -> String { "\(directory)/\(Self.trashPrefix)\(hexadecimal(id))" }
    static let trashPrefix = "trash-"

    /// The directory of a file is the last byte of its id, which is random.
    func shard(of id: Int64) -> Int64 { id & (DiskIndexSchema.shards - 1) }

    func shard(_ number: Int64) -> String { data + "/" + String(hexadecimal(number).suffix(2)) }

    func file(_ id: Int64) -> String {
        // Bytes, not strings that are joined: every hit makes one.
        let directory = directory.utf8
        let count = directory.count
        return String(unsafeUninitializedCapacity: count + 25) { bytes in
            _ = bytes.initialize(fromContentsOf: directory)
            _ = bytes[count...].initialize(fromContentsOf: "/data/__/".utf8)
            for digit in 0..<16 {
                let nibble = UInt8(truncatingIfNeeded: id >> (60 - 4 * Int64(digit))) & 15
                bytes[count + 9 + digit] = nibble < 10 ? 48 + nibble : 87 + nibble
            }
            bytes[count + 6] = bytes[count + 23]
            bytes[count + 7] = bytes[count + 24]
            return count + 25
        }
    }

    /// The id that a file is named after; `nil` if it is none of ours.
    func id(ofFile name: String) -> Int64? { name.utf8.count == 16 ? Int64(name, radix: 16) : nil }

    private func hexadecimal(_ value: Int64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: max(0, 16 - digits.utf8.count)) + digits
    }

    /// The bits of an id that come from its key's hash.
    static let tagMask: Int64 = 1 << 20 - 1

    /// An id for a file stored now: the time in milliseconds, then 20 bits of the hash of its key, so that the
    /// ``EntryTable`` needs no more than ids.
    static func newID(at time: Int64, hash: Int64) -> Int64 { lowestID(at: time) | EntryTable.tag(hash) }

    /// The id a millisecond later, for a file whose name is taken.
    static func id(after id: Int64) -> Int64 { id + (1 << 20) }

    /// When a file was stored, in microseconds since 1970, to the millisecond.
    static func time(of id: Int64) -> Int64 { (id >> 20) * 1_000 }

    /// The lowest id of files stored after a time, to the millisecond.
    static func firstID(after time: Int64) -> Int64 { lowestID(at: time) + (1 << 20) }

    /// - Parameter time: in microseconds since 1970.
    private static func lowestID(at time: Int64) -> Int64 { min(max(1, time / 1_000), 1 << 42) << 20 }
}
