internal import Glibc

/// The amount of memory that a program may use: the memory of the machine, or the limit of its control group.
///
/// The limit of a group applies to all groups below it. So every level from the program's own group to the root counts.
package struct SystemMemory {
    /// The prefix of `/proc` and `/sys`, for tests.
    let root: String

    package init(root: String = "") { self.root = root }

    /// The largest number of bytes that the program may use; `nil` if the system does not provide it.
    package var limit: Int? {
        [machineTotal, controlGroupLimit].compactMap { $0 }.min()
    }

    /// `MemTotal` of `/proc/meminfo`.
    var machineTotal: Int? {
        guard let line = lines(of: "/proc/meminfo").first(where: { $0.hasPrefix("MemTotal:") }) else { return nil }
        let fields = line.split(separator: " ")
        guard fields.count >= 2, let kibibytes = Int(fields[1]) else { return nil }
        let (bytes, overflow) = kibibytes.multipliedReportingOverflow(by: 1024)
        return overflow ? nil : bytes
    }

    /// The smallest limit among the groups of the program, in either version of control groups.
    var controlGroupLimit: Int? {
        var limits: [Int] = []
        for line in lines(of: "/proc/self/cgroup") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            if fields[0] == "0", fields[1].isEmpty {
                limits += limitsUpwards(from: String(fields[2]), under: "/sys/fs/cgroup", file: "memory.max")
            } else if fields[1].split(separator: ",").contains("memory") {
                limits += limitsUpwards(
                    from: String(fields[2]), under: "/sys/fs/cgroup/memory", file: "memory.limit_in_bytes")
            }
        }
        return limits.min()
    }

    /// The folder of the program's control group, version 2.
    var controlGroupFolder: String? {
        for line in lines(of: "/proc/self/cgroup") where line.hasPrefix("0::/") {
            return "/sys/fs/cgroup" + (line == "0::/" ? "" : line.dropFirst(3))
        }
        return nil
    }

    private func limitsUpwards(from group: String, under mount: String, file: String) -> [Int] {
        var parts = group.split(separator: "/")
        var limits: [Int] = []
        while true {
            let folder = parts.isEmpty ? mount : "\(mount)/\(parts.joined(separator: "/"))"
            // "max", and in version 1 a number near Int.max, mean no limit.
            if let text = lines(of: "\(folder)/\(file)").first, let bytes = Int(text), bytes > 0, bytes < 1 << 60 {
                limits.append(bytes)
            }
            if parts.popLast() == nil { return limits }
        }
    }

    /// Returns the lines of a small file; none if it cannot be read.
    package func lines(of path: String) -> [Substring] {
        guard let file = fopen(root + path, "re") else { return [] }
        defer { fclose(file) }
        var text = ""
        var buffer = [CChar](repeating: 0, count: 4096)
        while text.utf8.count < 1 << 16, fgets(&buffer, Int32(buffer.count), file) != nil {
            text += buffer.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        }
        return text.split(separator: "\n")
    }
}
