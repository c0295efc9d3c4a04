import CTestProcess
import Foundation
import Glibc
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import TintypeIsolation

/// A worker that a file has taken over says whatever it likes.
@Suite("Isolated decoding: workers that lie", .timeLimited)
struct HostileWorkerTests {
    @Test(
        "A header that no image of the request has is nonsense, and no memory is taken for it", .capability("ISO-07"),
        arguments: [
            "frames", "many", "pages", "size", "empty", "loop", "durations", "duration", "bits", "map", "format",
            "block",
        ])
    func headers(lie: String) throws {
        let bench = IsolatedBench()
        do throws(ImageError) {
            _ = try bench.coder.info(of: Data("lie \(lie)".utf8), context: ProcessingContext())
            Issue.record("it was believed")
        } catch {
            #expect(error.code == .decoderCrashed && error.reason.contains("no sense"), "\(error)")
        }
        #expect(bench.pool.idleProcesses.isEmpty)
    }

    @Test(
        "An image that wasn't asked for is nonsense, and no memory is taken for it", .capability("ISO-07"),
        arguments: [
            "tall", "box", "bytes", "header", "source", "loop", "scale", "bits", "format", "unknown", "colors",
            "partial", "moving",
            "transformed", "metadata", "deep", "cancelled", "overBudget", "decoderCrashed", "notCached", "negative",
            "nothingReserved", "late", "digest", "flood", "ready", "done", "opened",
        ])
    func images(lie: String) throws {
        let bench = IsolatedBench()
        var options = DecodeOptions()
        options.firstFrameOnly = lie != "header"
        options.maximumBytes = lie == "bytes" ? .bytes(128 * 96 * 4 - 1) : nil
        options.thumbnailSize = lie == "box" ? PixelSize(width: 40, height: 40) : nil
        let error = try #require(bench.failure("lie \(lie)", options: options))
        #expect(error.code == .decoderCrashed && error.reason.contains("no sense"), "\(error)")
        #expect(try bench.decode("good").size == PixelSize(width: 3, height: 2))
    }

    @Test("An image over the limits is refused as in the program", .capability("ISO-07"))
    func limits() throws {
        let error = try #require(IsolatedBench().failure("lie long"))
        #expect(error.code == .limitExceeded, "\(error)")
    }

    @Test("Texts lose what a terminal would obey", .capability("ISO-07"))
    func words() throws {
        let error = try #require(IsolatedBench().failure("lie words"))
        #expect(error.code == .corruptImage && error.stage == .decode && error.reason == "[31mred")
        let info = try IsolatedBench().coder.info(of: Data("lie words".utf8), context: ProcessingContext())
        #expect(info.colorProfile == "]0;titlered")
    }

    @Test(
        "A worker reserves no more than the limits allow an image",
        .capability("ISO-07"))
    func reservation() throws {
        let bench = IsolatedBench { $0.memoryLimit = .megabytes(300) }
        let budget = DecodeBudget(limit: .gigabytes(1))
        let limits = DecodeLimits(maximumBytes: .megabytes(100))
        let error = try #require(
            bench.failure("lie reserve", context: ProcessingContext(limits: limits, budget: budget)))
        #expect(error.reason == "reserved" && budget.statistics.peakBytes == ByteCount.megabytes(400).bytes)
        #expect(budget.statistics.reservedBytes == 0)
    }

    @Test("Without limits, a worker that reserves everything gets half of the budget", .capability("ISO-07"))
    func unlimited() throws {
        let bench = IsolatedBench { $0.memoryLimit = .unlimited }
        let budget = DecodeBudget(limit: .gigabytes(1))
        let limits = DecodeLimits(maximumBytes: .unlimited)
        let error = try #require(
            bench.failure("lie reserve", context: ProcessingContext(limits: limits, budget: budget)))
        #expect(error.reason == "reserved" && budget.statistics.peakBytes == ByteCount.megabytes(500).bytes)
    }

    @Test("Memory for an image that a worker reserved nothing for is counted all the same", .capability("ISO-07"))
    func unreserved() throws {
        let bench = IsolatedBench()
        let budget = DecodeBudget(limit: .gigabytes(1))
        let context = ProcessingContext(budget: budget)
        #expect(try bench.decode("unreserved", context: context).size == PixelSize(width: 3, height: 2))
        #expect(budget.statistics.peakBytes > 0 && budget.statistics.reservedBytes == 0)
        // Where there is no room, the worker is in the middle of its image, and gets no other one.
        let other = try context.reserve(ByteCount.gigabytes(1).bytes)
        defer { other.release() }
        let preview = ProcessingContext(
            limits: DecodeLimits(), pool: .shared, budget: budget, admission: .preview, isCancelled: { false })
        #expect(bench.failure("unreserved", context: preview)?.code == .overBudget)
        #expect(bench.pool.idleProcesses.isEmpty)
    }

    @Test("A helper that isn't there is looked for again", .capability("ISO-05"))
    func lateHelper() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/helper"
        let bench = IsolatedBench { $0.helper = path }
        #expect(bench.failure("good")?.code == .decoderUnavailable)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: Helper.path)
        #expect(try bench.decode("good").size == PixelSize(width: 3, height: 2))
    }

    @Test(
        "Memory can't be made shorter under the program, and a worker that leaves takes nothing along",
        .capability("ISO-07"))
    func memory() throws {
        for misdeed in ["shorten", "leave"] {
            #expect(IsolatedBench().failure(misdeed)?.code == .decoderCrashed, "\(misdeed)")
        }
    }

    @Test("A worker that says nothing is ended at the deadline", .capability("ISO-07"))
    func silence() throws {
        let bench = IsolatedBench { $0.timeLimit = .seconds(1) }
        #expect(bench.failure("lie nothing")?.code == .decodeTimedOut)
        #expect(bench.pool.idleProcesses.isEmpty)
    }

    @Test("An animation that never ends has as many frames as its header says", .capability("ISO-07"))
    func endlessAnimation() throws {
        let decoder = try IsolatedBench().coder.frameDecoder(
            for: Data("lie endless".utf8), options: DecodeOptions(), context: ProcessingContext())
        for _ in 0..<3 { #expect(try decoder.nextFrame() != nil) }
        #expect(try decoder.nextFrame() == nil)
        try decoder.seek(to: 2)
        #expect(try decoder.nextFrame() != nil)
        #expect(try decoder.nextFrame() == nil)
    }

    @Test(
        "A worker that is killed at any moment costs its image at most, and leaves nothing behind",
        .capability("ISO-07"))
    func killed() async {
        await #expect(processExitsWith: .exitCode(7)) {
            var bench: IsolatedBench? = IsolatedBench()
            var descriptors = 0
            for round in 0..<60 {
                guard try bench?.decode("good").size.width == 3, let worker = bench?.pool.idleProcesses.first else {
                    _exit(1)
                }
                if round == 0 { descriptors = ThisProcess.descriptors }
                let killer = Thread {
                    usleep(UInt32(round * 100))
                    kill(worker, SIGKILL)
                }
                killer.start()
                let error = bench?.failure(round % 2 == 0 ? "good" : "large")
                guard error == nil || error?.code == .outOfMemory || error?.code == .decoderCrashed else { _exit(2) }
                while !killer.isFinished { sched_yield() }
                while ThisProcess.isRunning(worker) || ThisProcess.threads(of: worker) > 1 { usleep(1_000) }
            }
            guard try bench?.decode("good").size.width == 3, ThisProcess.descriptors <= descriptors else { _exit(3) }
            bench = nil
            guard waitpid(-1, nil, WNOHANG) == -1, errno == ECHILD else { _exit(4) }
            _exit(7)
        }
    }

    @Test("Two hundred images are decoded at once", .capability("ISO-07"))
    func crowd() async throws {
        let bench = IsolatedBench()
        let queue = WorkQueue(label: "crowd", width: 16)
        let kinds = ["good", "abort", "lie tall", "lie cancelled"]
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                group.addTask {
                    let kind = kinds[index % kinds.count]
                    let error = try? await queue.perform { _ throws(ImageError) in bench.failure(kind) }
                    #expect((error ?? nil)?.code == (kind == "good" ? nil : .decoderCrashed))
                }
            }
        }
        #expect(bench.pool.idleProcesses.count <= DecoderIsolation().maximumIdleProcesses)
    }

    @Test("A worker sees images of one origin, and is stopped while it waits", .capability("ISO-07"))
    func origins() throws {
        let bench = IsolatedBench()
        func worker(_ origin: String?) throws -> Int32 {
            var context = ProcessingContext()
            context.origin = origin
            _ = try bench.decode("good", context: context)
            return try #require(bench.pool.idleProcesses.last)
        }
        let (own, other) = (try worker(nil), try worker("https://example.org:0"))
        #expect(try own != other && worker(nil) == own && worker("https://example.org:0") == other)
        #expect(try worker("https://example.com:0") != other && bench.pool.idleProcesses.count == 2)
        for process in bench.pool.idleProcesses {
            while try !#require(ThisProcess.state(of: process)).contains(") T ") { sched_yield() }
        }
    }

    @Test("A worker that was started ahead has seen nobody's images, and decodes the first", .capability("ISO-07"))
    func prepared() async throws {
        let bench = IsolatedBench()
        bench.coder.prepare()
        while bench.pool.idleProcesses.isEmpty { await Task.yield() }
        bench.coder.prepare()
        let worker = bench.pool.idleProcesses
        _ = try bench.decode("good")
        #expect(bench.pool.idleProcesses == worker && bench.pool.startCount == 1)
    }

    @Test("A worker that has worked for long is replaced, before the kernel ends it", .capability("ISO-07"))
    func longUse() throws {
        for (longest, isKept) in [(Duration.zero, false), (.seconds(300), true)] {
            let bench = IsolatedBench(longestUse: longest)
            _ = try bench.decode("good")
            #expect(bench.pool.idleProcesses.isEmpty != isKept)
        }
    }

    @Test("A copy of the program that it made with fork leaves its workers alone", .capability("ISO-06"))
    func fork() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let bench = IsolatedBench()
            _ = try bench.decode("good")
            let workers = bench.pool.idleProcesses
            let copy = fork_process()
            if copy == 0 {
                guard try bench.decode("good").size.width == 3, bench.pool.idleProcesses != workers else { _exit(1) }
                _exit(0)
            }
            var status: Int32 = 0
            guard waitpid(copy, &status, 0) == copy, status == 0 else { _exit(2) }
            guard try bench.decode("good").size.width == 3, bench.pool.idleProcesses == workers else { _exit(3) }
            _exit(7)
        }
    }
}
