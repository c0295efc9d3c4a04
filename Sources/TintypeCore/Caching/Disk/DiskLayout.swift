/// Where things are in the directory of a disk cache.
struct DiskLayout: Sendable, Hashable {
    let directory: String

    var index: String { directory + "/index.sqlite" }
    /// Held while the index is opened, made or replaced.
    var lock: String { directory + "/lock" }
    /// The files of the entries, in ``DiskIndexSchema/shards`` directories.
    var data: String { directory + "/data" }
    /// Where a damaged index goes: one is kept, for whoever wants to see what happened.
    var damagedIndex: String { directory + "/index.damaged" }

    /// What ``data`` is renamed to when everything is removed at once.
    func trash(_ id: Int64) -> String { "\(directory)/\(Self.trashPrefix)\(hexadecimal(id))" }
    static let trashPrefix = "trash-"

    /// The directory of a file is the last byte of its id, which is random.
    func shard(of id: Int64) -> Int64 { id & (DiskIndexSchema.shards - 1) }

    func shard(_ number: Int64) -> String { data + "/" + String(hexadecimal(number).suffix(2)) }

    func file(_ id: Int64) -> String { "\(shard(shard(of: id)))/\(hexadecimal(id))" }

    /// The id that a file is named after; `nil` if it is none of ours.
    func id(ofFile name: String) -> Int64? { name.utf8.count == 16 ? Int64(name, radix: 16) : nil }

    private func hexadecimal(_ value: Int64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: max(0, 16 - digits.utf8.count)) + digits
    }

    /// An id for a file stored now: the time in milliseconds, then 20 random bits. A file's name is not used a second
    /// time but by an accident, which creating the file notices, and so does reading, by key and checksum.
    static func newID(at time: Int64, using random: Int64 = .random(in: 0..<1 << 20)) -> Int64 {
        lowestID(at: time) | random
    }

    /// The lowest id of files stored after a time, to the millisecond.
    static func firstID(after time: Int64) -> Int64 { lowestID(at: time) + (1 << 20) }

    /// - Parameter time: in microseconds since 1970.
    private static func lowestID(at time: Int64) -> Int64 { min(max(0, time / 1_000), 1 << 42) << 20 }
}
