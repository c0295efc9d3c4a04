import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Memory pressure", .timeLimited)
struct MemoryPressureTests {
    @Test("Images of a pixel are as many as the capacity can hold with all that belongs to them")
    func tinyImages() throws {
        let cache = MemoryCache(.init(capacity: .megabytes(30), keepsWeakReferences: false))
        let image = try Image(size: PixelSize(width: 1, height: 1)) { _ in }
        for number in 0..<16_000 { cache.store(image, forKey: ImageKey(source: "\(number)")) }
        #expect(cache.statistics.entries == 30_000_000 / 2_048)
    }

    @Test("A warning leaves half of a cache, and critical pressure a tenth")
    func levels() throws {
        let pressure = MemoryPressure(FakeSignals(offersNothing: true), log: { _ in })
        let cache = MemoryCache(.init(capacity: 6_400))
        func fill() throws {
            for index in 0..<100 { cache.store(try solidImage(16, 1), forKey: ImageKey(source: "\(index)")) }
        }
        try fill()
        #expect(cache.statistics.bytes == 6_400)
        cache.observe(pressure)
        pressure.report(.warning)
        #expect(cache.statistics.bytes == 3_200)
        pressure.report(.critical)
        #expect(cache.statistics.bytes == 640)
        cache.configuration.capacity = .unlimited
        pressure.report(.warning)
        #expect(cache.statistics.bytes == 320, "without a capacity, a part of what it holds")
        try fill()
        pressure.report(.critical)
        #expect(cache.statistics.bytes == 640)
        cache.observe(nil)
        cache.configuration.capacity = 6_400
        try fill()
        pressure.report(.critical)
        #expect(cache.statistics.bytes == 6_400)
    }

    @Test("Pixel buffers that nobody uses are given back too")
    func others() throws {
        let pressure = MemoryPressure(FakeSignals(offersNothing: true), log: { _ in })
        let pool = PixelBufferPool(limit: .megabytes(1))
        _ = try MutablePixelBuffer(size: PixelSize(width: 64, height: 64), pool: pool)
        #expect(pool.statistics.freeBytes > 0)
        pool.observe(pressure)
        pressure.report(.warning)
        #expect(pool.statistics.freeBytes == 0)
    }

    @Test("A cache that is gone is no longer told, and what it observed goes on")
    func release() throws {
        let pressure = MemoryPressure(FakeSignals(offersNothing: true), log: { _ in })
        var cache: MemoryCache? = MemoryCache()
        weak let released = cache
        cache?.observe(pressure)
        cache = nil
        #expect(released == nil)
        pressure.report(.critical)
    }

    @Test("Where there are no signals, that is logged once")
    func nothingOffered() {
        let logged = Lock<[String]>([])
        let pressure = MemoryPressure(
            FakeSignals(offersNothing: true), log: { line in logged.withLock { $0.append(line) } })
        let observations = (0..<3).map { _ in pressure.observe { _ in } }
        #expect(logged.withLock { $0.count } == 1)
        withExtendedLifetime(observations) {}
    }

    @Test("Signals reach the observers, one thread for all of them, and end with their owner")
    func signals() async {
        let signals = FakeSignals()
        var pressure: MemoryPressure? = MemoryPressure(signals, log: { _ in Issue.record("there are signals") })
        let (levels, continuation) = AsyncStream.makeStream(of: MemoryPressure.Level.self)
        let first = pressure?.observe { continuation.yield($0) }
        let second = pressure?.observe { _ in }
        second?.cancel()
        signals.send(.warning)
        signals.send(.critical)
        var received: [MemoryPressure.Level] = []
        for await level in levels {
            received.append(level)
            if received.count == 2 { break }
        }
        #expect(received == [.warning, .critical])
        pressure = nil
        #expect(signals.isClosed)
        withExtendedLifetime(first) {}
    }

    @Test("Events of a control group: what counts is what was added")
    func groupEvents() {
        let before = GroupMemoryEvents("low 0\nhigh 3\nmax 1\noom 0\noom_kill 0\noom_group_kill 0\n")
        #expect(before.level(since: before) == nil)
        #expect(GroupMemoryEvents("low 5\nhigh 3\nmax 1\noom 0\n").level(since: before) == nil)
        #expect(GroupMemoryEvents("low 0\nhigh 4\nmax 1\noom 0\n").level(since: before) == .warning)
        #expect(GroupMemoryEvents("low 0\nhigh 4\nmax 2\noom 0\n").level(since: before) == .critical)
        #expect(GroupMemoryEvents("low 0\nhigh 3\nmax 1\noom 0\noom_kill 1").level(since: before) == .critical)
        #expect(GroupMemoryEvents("high many\nmax\n\u{0}") == GroupMemoryEvents(""))
    }

    @Test("Triggers are written as the kernel wants them, and a group's counters are read again at each event")
    func kernelFiles() throws {
        let directory = try TemporaryDirectory()
        try write("", to: "/proc/pressure/memory", in: directory)
        try write("1:cpu:/other\n0::/a.slice\n", to: "/proc/self/cgroup", in: directory)
        try write("high 1\nmax 0\n", to: "/sys/fs/cgroup/a.slice/memory.events", in: directory)
        let kernel = KernelPressure(system: SystemMemory(root: directory.path))
        #expect(kernel.open())
        #expect(kernel.descriptors.count == 3)
        // Both triggers go to one file here; the second one overwrites the first.
        let written = try Data(contentsOf: URL(fileURLWithPath: directory.path + "/proc/pressure/memory"))
        #expect(written == Data("full 50000 2000000\0".utf8))
        let descriptors = kernel.descriptors
        #expect(kernel.take([(descriptors[0], Int32(POLLPRI))]) == .warning)
        #expect(kernel.take(descriptors.prefix(2).map { ($0, Int32(POLLPRI)) }) == .critical)
        let group = descriptors[2]
        #expect(kernel.take([(group, Int32(POLLPRI | POLLERR))]) == nil, "nothing was counted")
        try overwrite("high 2\nmax 0\n", at: "/sys/fs/cgroup/a.slice/memory.events", in: directory)
        #expect(kernel.take([(group, Int32(POLLPRI | POLLERR))]) == .warning)
        #expect(kernel.take([(group, Int32(POLLPRI | POLLERR))]) == nil)
        #expect(kernel.take([(descriptors[0], Int32(POLLERR))]) == nil)
        #expect(kernel.descriptors == Array(descriptors.dropFirst()), "a trigger that has gone is let go")
        kernel.close()
        #expect(kernel.next() == nil)
    }

    @Test("A system that offers nothing is told from one that does")
    func noKernelFiles() throws {
        let directory = try TemporaryDirectory()
        #expect(!KernelPressure(system: SystemMemory(root: directory.path)).open())
    }

    private func write(_ text: String, to path: String, in directory: TemporaryDirectory) throws {
        let url = URL(fileURLWithPath: directory.path + path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// In the same file, as the kernel does.
    private func overwrite(_ text: String, at path: String, in directory: TemporaryDirectory) throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.path + path))
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }
}

/// Signals that a test sends.
private final class FakeSignals: PressureSignals {
    private let offersNothing: Bool
    private let queue = Lock<[MemoryPressure.Level]>([])
    private let closed = Lock(false)
    private let available = DispatchSemaphore(value: 0)

    init(offersNothing: Bool = false) { self.offersNothing = offersNothing }

    var isClosed: Bool { closed.withLock { $0 } }

    func send(_ level: MemoryPressure.Level) {
        queue.withLock { $0.append(level) }
        available.signal()
    }

    func open() -> Bool { !offersNothing }

    func next() -> MemoryPressure.Level? {
        available.wait()
        return queue.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }

    func close() {
        closed.withLock { $0 = true }
        available.signal()
    }
}
