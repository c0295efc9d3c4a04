import CTestProcess
import Foundation
import Glibc
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import TintypeIsolation

@Suite("Isolated decoding: decoders that misbehave", .timeLimited)
struct MisdeedTests {
    /// In the long form, a thousand.
    private static let rounds = ProcessInfo.processInfo.environment["CRASH_ROUNDS"].flatMap { Int($0) } ?? 10

    @Test("An image arrives as the worker decoded it, and the worker is used again", .capability("ISO-01"))
    func goodImage() throws {
        let bench = IsolatedBench()
        let image = try bench.decode("good")
        #expect(image.size == PixelSize(width: 3, height: 2) && image.pixels[2, 1] == SIMD4(72, 73, 74, 75))
        #expect(image.format == .svg && image.properties.sourceSize == image.size)
        #expect(try bench.coder.info(of: Data("good".utf8)).size == image.size)
        let processes = bench.pool.idleProcesses
        _ = try bench.decode("good")
        #expect(processes.count == 1 && bench.pool.idleProcesses == processes)
        // Large images are mapped, and the same.
        let large = try bench.decode("large")
        #expect(large.size == PixelSize(width: 2_000, height: 1_000))
        #expect(large.pixels[1_999, 999] == SIMD4(252, 253, 254, 255) && large.pixels[64, 0] == SIMD4(0, 1, 2, 3))
    }

    @Test(
        "A decoder that crashes, ends, or calls the system as no decoder may ends in a typed error, and its process with it",
        .capability("ISO-02"),
        arguments: [
            ("abort", "Aborted"), ("trap", "crashed"), ("exit", "code 3"), ("socket", "system call"),
            ("process", "system call"), ("kill", "system call"), ("signal", "system call"),
            ("lifeline", "system call"), ("lie files", "system call"),
            ("garbage", "no sense"),
            ("nonsense", "no sense"), ("short", "no sense"), ("deep", "no sense"), ("long", "no sense"),
            ("early", "no sense"), ("huge", "no sense"),
            ("mapped", "no sense"),
        ])
    func crashes(misdeed: String, reason: String) throws {
        let bench = IsolatedBench()
        let error = try #require(bench.failure(misdeed))
        #expect(error.code == .decoderCrashed && error.stage == .decode)
        #expect(error.reason.contains(reason), "\(error.reason)")
        #expect(bench.pool.idleProcesses.isEmpty)
        #expect(try bench.decode("good").size == PixelSize(width: 3, height: 2))
    }

    @Test("An error that a decoder never has doesn't make its worker a liar", .capability("ISO-01"))
    func errorsOfOtherStages() throws {
        let bench = IsolatedBench()
        for code in ["invalidURL", "emptyBody", "cancelled", "corruptImage"] {
            let error = try #require(bench.failure("fail \(code)"))
            #expect(error.code == .corruptImage && error.stage == .decode && error.reason == "it failed")
        }
        #expect(bench.failure("fail truncatedImage")?.code == .truncatedImage)
        #expect(!bench.pool.idleProcesses.isEmpty)
    }

    @Test("A decoder that takes all memory runs out of it, and the program doesn't", .capability("ISO-02"))
    func memory() throws {
        let bench = IsolatedBench { $0.memoryLimit = .megabytes(200) }
        let error = try #require(bench.failure("allocate"))
        #expect(error.code == .outOfMemory && error.reason.contains("200.0 MB"), "\(error)")
        #expect(bench.pool.idleProcesses.isEmpty)
    }

    @Test("A decoder may take what it reserved, and a part of the limit besides", .capability("ISO-02"))
    func workingMemory() throws {
        let bench = IsolatedBench()
        let error = try #require(bench.failure("allocate"))
        #expect(error.code == .outOfMemory && error.reason.contains("400.0 MB"), "\(error)")
        let budget = DecodeBudget(limit: .gigabytes(4))
        #expect(try bench.decode("reserved", context: ProcessingContext(budget: budget)).size.width == 3)
        // The next image has a reservation of its own.
        #expect(bench.failure("allocate")?.code == .outOfMemory)
    }

    @Test("A decoder can open no file, not even to read it", .capability("ISO-02"), arguments: ["open", "write"])
    func files(misdeed: String) throws {
        let bench = IsolatedBench()
        let error = try #require(bench.failure(misdeed))
        #expect(error.code == .corruptImage && error.reason == "error \(EACCES)")
        // Nothing crashed.
        #expect(bench.pool.idleProcesses.count == 1)
        #expect(!FileManager.default.fileExists(atPath: "/tmp/tintype-test"))
    }

    /// A font of the system.
    private static func font() throws -> String {
        let all = FileManager.default.enumerator(atPath: "/usr/share/fonts")?.allObjects as? [String]
        return "/usr/share/fonts/"
            + (try #require(all?.sorted().first { $0.hasSuffix(".ttf") || $0.hasSuffix(".otf") }))
    }

    @Test(
        "Without Landlock, a decoder can open no file but fonts, and calls the system no more freely",
        .capability("ISO-02"))
    func withoutLandlock() async throws {
        // With Landlock, all files of the list can be read, without it only fonts, as often as anybody likes.
        for path in [try Self.font(), "/etc/fonts/fonts.conf"] {
            #expect(IsolatedBench().failure("font \(path)") == nil, "\(path)")
        }
        await #expect(processExitsWith: .success) {
            guard become_old_kernel() == 0 else { _exit(1) }
            let bench = IsolatedBench()
            for misdeed in ["open", "write"] {
                let error = try #require(bench.failure(misdeed))
                #expect(error.code == .corruptImage && error.reason == "error \(EACCES)", "\(misdeed): \(error)")
            }
            for (path, isFont) in [(try Self.font(), true), ("/etc/fonts/fonts.conf", false)] {
                for _ in 1...100 { #expect((bench.failure("font \(path)") == nil) == isFont, "\(path)") }
                #expect(bench.failure("writefont \(path)")?.code == .corruptImage, "\(path)")
            }
            for misdeed in ["socket", "process", "kill"] {
                let error = try #require(bench.failure(misdeed))
                #expect(error.code == .decoderCrashed && error.reason.contains("system call"), "\(error)")
            }
            #expect(try bench.decode("good").size == PixelSize(width: 3, height: 2))
        }
    }

    @Test("A decoder can't write more pixels than it described", .capability("ISO-02"))
    func pixels() throws {
        let error = try #require(IsolatedBench().failure("pixels"))
        #expect(error.code == .limitExceeded && error.reason == "error \(EPERM)", "\(error)")
    }

    @Test("A decoder that never ends is ended at the deadline", .capability("ISO-02"))
    func deadline() throws {
        let bench = IsolatedBench { $0.timeLimit = .seconds(2) }
        let error = try #require(bench.failure("spin"))
        // A machine under load may not even start the helper in time.
        #expect([.decodeTimedOut, .decoderUnavailable].contains(error.code))
        #expect(bench.pool.idleProcesses.isEmpty)
    }

    @Test("A small file has little time, and a large one more", .capability("ISO-02"))
    func timeOfFile() throws {
        let isolation = DecoderIsolation()
        #expect(isolation.processorLimit(byteCount: 1_000, formats: [.heic]) < .milliseconds(4_010))
        #expect(isolation.processorLimit(byteCount: 3_000_000, formats: [.heic]) == .seconds(16))
        #expect(isolation.processorLimit(byteCount: .max, formats: [.heic]) == .seconds(30))
        // The picture of a few bytes may be large.
        #expect(isolation.processorLimit(byteCount: 0, formats: [.jxl]) == .seconds(12))
        let error = try #require(IsolatedBench { $0.smallFileTimeLimit = .seconds(1) }.failure("spin"))
        #expect(error.code == .decodeTimedOut && error.reason.contains("longer than 1.0"), "\(error)")
    }

    @Test("A load that is canceled ends its decoder", .capability("ISO-02"))
    func cancellation() throws {
        let bench = IsolatedBench()
        _ = try bench.decode("good")
        let process = try #require(bench.pool.idleProcesses.first)
        let checks = Lock(0)
        let context = ProcessingContext {
            checks.withLock { checks in
                checks += 1
                return checks > 5
            }
        }
        #expect(bench.failure("spin", context: context)?.code == .cancelled)
        #expect(bench.pool.idleProcesses.isEmpty && kill(process, 0) != 0)
    }

    @Test(
        "What a decoder reserves counts in the program's budget, and limits hold for what it returns",
        .capability("ISO-02"))
    func budget() throws {
        let bench = IsolatedBench()
        let budget = DecodeBudget(limit: .megabytes(100))
        _ = try bench.decode("good", context: ProcessingContext(budget: budget))
        #expect(budget.statistics.peakBytes == 48 && budget.statistics.reservedBytes == 0)
        let limits = DecodeLimits(maximumBytes: .megabytes(1))
        let error = try #require(bench.failure("large", context: ProcessingContext(limits: limits)))
        #expect(error.code == .limitExceeded && error.reason.contains("1.0 MB"))
        #expect(try bench.decode("good").size == PixelSize(width: 3, height: 2))
    }

    @Test("A worker is replaced after a number of images, and after it has grown", .capability("ISO-03"))
    func replacement() throws {
        let bench = IsolatedBench { $0.maximumDecodesPerProcess = 2 }
        _ = try bench.decode("good")
        let first = bench.pool.idleProcesses
        _ = try bench.decode("good")
        #expect(first.count == 1 && bench.pool.idleProcesses.isEmpty)
        let small = IsolatedBench { $0.maximumIdleMemory = .megabytes(1) }
        _ = try small.decode("good")
        #expect(small.pool.idleProcesses.isEmpty)
        // One that is killed while it waits is replaced too.
        let other = IsolatedBench()
        _ = try other.decode("good")
        let process = try #require(other.pool.idleProcesses.first)
        kill(process, SIGKILL)
        while ThisProcess.isRunning(process) || ThisProcess.threads(of: process) > 1 { usleep(1_000) }
        #expect(try other.decode("good").size == PixelSize(width: 3, height: 2))
    }

    @Test(
        "After many misdeeds good images still arrive, and no process and no descriptor is left", .capability("ISO-02"))
    func manyMisdeeds() async {
        // In a process of its own, whose descriptors and children are known.
        await #expect(processExitsWith: .success) {
            let misdeeds = [
                "abort", "garbage", "socket", "open", "trap", "process", "mapped", "exit", "huge", "pixels",
            ]
            var descriptors = 0
            var memory = 0
            for round in 0...Self.rounds {
                let bench = IsolatedBench()
                // The first round opens what stays open.
                for misdeed in round == 0 ? ["abort"] : misdeeds {
                    guard bench.failure(misdeed) != nil, try bench.decode("good").size == PixelSize(width: 3, height: 2)
                    else {
                        fatalError("\(misdeed) in round \(round)")
                    }
                }
                if round == 0 { descriptors = ThisProcess.descriptors - 2 }
                if round == 1 { memory = ThisProcess.residentBytes }
            }
            precondition(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD, "a process is left")
            precondition(ThisProcess.descriptors <= descriptors, "a descriptor is left")
            precondition(ThisProcess.residentBytes < memory + 32 << 20, "memory is left")
        }
    }
}
