import Foundation
import TestSupport
import Testing

import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("System memory", .timeLimited)
struct SystemMemoryTests {
    private func system(_ files: [String: String]) throws -> (SystemMemory, TemporaryDirectory) {
        let directory = try TemporaryDirectory()
        for (path, text) in files {
            let url = URL(fileURLWithPath: directory.path + path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
        return (SystemMemory(root: directory.path), directory)
    }

    private let meminfo = "MemTotal:       4000000 kB\nMemFree:  1 kB\n"

    @Test("Without a group the machine's memory counts", .capability("3.1"))
    func machine() throws {
        let (memory, directory) = try system(["/proc/meminfo": meminfo])
        #expect(memory.limit == 4_096_000_000)
        #expect(ByteCount.memoryCacheDefault(memory) == .megabytes(512))
        withExtendedLifetime(directory) {}
    }

    @Test("Version 2: the smallest limit on the way up counts")
    func version2() throws {
        let (memory, directory) = try system([
            "/proc/meminfo": meminfo, "/proc/self/cgroup": "0::/a/b\n",
            "/sys/fs/cgroup/a/b/memory.max": "max\n", "/sys/fs/cgroup/a/memory.max": "100000000\n",
        ])
        #expect(memory.limit == 100_000_000)
        #expect(ByteCount.memoryCacheDefault(memory) == .megabytes(20))
        withExtendedLifetime(directory) {}
    }

    @Test("Version 1: the group of the memory controller counts, and its way to say that there is no limit")
    func version1() throws {
        let (memory, directory) = try system([
            "/proc/meminfo": meminfo, "/proc/self/cgroup": "5:cpu,cpuacct:/other\n4:memory:/x\n0::/\n",
            "/sys/fs/cgroup/memory/x/memory.limit_in_bytes": "64000000\n",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        ])
        #expect(memory.controlGroupLimit == 64_000_000)
        withExtendedLifetime(directory) {}
    }

    @Test("A system that says nothing, or nonsense, has no known limit")
    func nothing() throws {
        let (memory, directory) = try system(["/proc/meminfo": "MemTotal: many kB\n", "/proc/self/cgroup": "x\n"])
        #expect(memory.limit == nil)
        #expect(ByteCount.memoryCacheDefault(memory) == .megabytes(200))
        withExtendedLifetime(directory) {}
    }
}
