import CTestProcess
import Foundation
import Glibc
import TestSupport
import Testing
import Tintype

@testable import TintypeIsolation

/// Programs with unusual processes. Each test runs in a process of its own.
@Suite("Isolated decoding: programs", .timeLimited)
struct HostTests {
    @Test("A program may have closed its standard streams", .capability("ISO-06"))
    func closedStreams() async {
        await #expect(processExitsWith: .exitCode(7)) {
            for stream in Int32(0)...2 { close(stream) }
            let bench = IsolatedBench()
            guard try bench.decode("good").size == PixelSize(width: 3, height: 2) else { _exit(1) }
            guard bench.failure("abort")?.code == .decoderCrashed else { _exit(2) }
            guard try bench.decode("large").size.width == 2_000 else { _exit(3) }
            _exit(7)
        }
    }

    @Test("A program may ignore the ends of its children, or wait for all of them", .capability("ISO-06"))
    func ignoredChildren() async {
        await #expect(processExitsWith: .exitCode(7)) {
            signal(SIGCHLD, SIG_IGN)
            let bench = IsolatedBench()
            for _ in 0..<3 {
                guard bench.failure("abort")?.code == .decoderCrashed else { _exit(1) }
                guard try bench.decode("good").size == PixelSize(width: 3, height: 2) else { _exit(2) }
            }
            _exit(7)
        }
    }

    @Test("A program without descriptors gets an error, and decodes again when it has some", .capability("ISO-06"))
    func descriptors() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let bench = IsolatedBench()
            guard try bench.decode("good").size.width == 3 else { _exit(1) }
            var files: [Int32] = []
            while true {
                let file = dup(1)
                if file < 0 { break }
                files.append(file)
                if files.count > 200_000 { _exit(2) }
            }
            guard bench.failure("good")?.code == .decoderUnavailable else { _exit(3) }
            for file in files { close(file) }
            guard try bench.decode("good").size.width == 3 else { _exit(4) }
            _exit(7)
        }
    }

    @Test("A worker has no variables and no descriptors of its program", .capability("ISO-02"))
    func inheritance() throws {
        let bench = IsolatedBench()
        _ = try bench.decode("good")
        let process = try #require(bench.pool.idleProcesses.first)
        let environment = try String(contentsOfFile: "/proc/\(process)/environ", encoding: .utf8)
        for variable in environment.split(separator: "\0") {
            let name = variable.prefix { $0 != "=" }
            let allowed: [Substring] = ["TINTYPE_WORKER", "SWIFT_BACKTRACE", "LD_LIBRARY_PATH", "GLIBC_TUNABLES"]
            #expect(allowed.contains(name), "\(variable)")
        }
        // The connection, the program, for its end, and perhaps memory that is about to be closed.
        let folder = "/proc/\(process)/fd"
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(file)") else {
                continue
            }
            #expect(
                ["/dev/null", "socket:", "anon_inode:[pidfd]", "/memfd:tintype"].contains { target.hasPrefix($0) },
                "\(target)")
        }
        // Each thread is confined.
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")
        #expect(threads.count == 2)
        for thread in threads {
            let status = try String(contentsOfFile: "/proc/\(process)/task/\(thread)/status", encoding: .utf8)
            #expect(status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"))
        }
    }

    @Test(
        "A program may be forbidden to change its user and its capabilities: without any, it decodes, and otherwise it says so",
        .capability("ISO-06"), .enabled(if: getuid() == 0), arguments: [false, true])
    func forbiddenRights(hasRights: Bool) async {
        await #expect(processExitsWith: .exitCode(7)) { [hasRights] in
            if !hasRights { guard setgid(65_534) == 0, setuid(65_534) == 0 else { _exit(1) } }
            guard forbid_changes_of_rights() == 0 else { _exit(2) }
            let bench = IsolatedBench()
            if hasRights {
                guard bench.failure("good")?.code == .decoderUnavailable else { _exit(3) }
            } else {
                guard try bench.decode("good").size.width == 3 else { _exit(4) }
            }
            _exit(7)
        }
    }

    @Test(
        "Workers of a program that has become another user, and may not kill them, end all the same",
        .capability("ISO-06"), .enabled(if: getuid() == 0))
    func otherUser() async {
        await #expect(processExitsWith: .exitCode(7)) {
            var bench: IsolatedBench? = IsolatedBench()
            _ = try bench?.decode("good")
            guard let worker = bench?.pool.idleProcesses.first else { _exit(1) }
            guard setuid(65_534) == 0, kill(worker, 0) != 0, errno == EPERM else { _exit(2) }
            bench = nil
            // The worker was reaped.
            guard !ThisProcess.isRunning(worker), waitpid(-1, nil, WNOHANG) == -1, errno == ECHILD else { _exit(3) }
            _exit(7)
        }
    }

    @Test("The time in which a program is stopped is not that of its images", .capability("ISO-06"))
    func stoppedProgram() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let bench = IsolatedBench { $0.timeLimit = .seconds(2) }
            _ = try bench.decode("good")
            let program = getpid()
            let waker = fork_process()
            if waker == 0 {
                usleep(100_000)
                kill(program, SIGSTOP)
                usleep(2_200_000)
                kill(program, SIGCONT)
                _exit(0)
            }
            guard try bench.decode("pause").size.width == 3 else { _exit(1) }
            _exit(7)
        }
    }

    @Test("A worker that is asked to end goes on as long as its program", .capability("ISO-06"))
    func askedToEnd() throws {
        let bench = IsolatedBench()
        _ = try bench.decode("good")
        let processes = bench.pool.idleProcesses
        for signal in [SIGTERM, SIGHUP, SIGINT] { kill(try #require(processes.first), signal) }
        #expect(try bench.decode("good").size == PixelSize(width: 3, height: 2))
        #expect(bench.pool.idleProcesses == processes)
    }

    @Test("Workers end with their program, even one that is killed", .capability("ISO-06"))
    func endOfProgram() async throws {
        let result = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            let bench = IsolatedBench()
            _ = try bench.decode("good")
            let idle = bench.pool.idleProcesses
            // One waits, and one works.
            Thread.detachNewThread { _ = bench.failure("spin") }
            while bench.pool.idleProcesses == idle { usleep(1_000) }
            _ = try bench.decode("good")
            print(bench.pool.idleProcesses[0], idle[0])
            fflush(nil)
            kill(getpid(), SIGKILL)
        }
        let output = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
        let processes = output.split(whereSeparator: \.isWhitespace).compactMap { Int32($0) }
        #expect(processes.count == 2)
        for process in processes {
            // Zombies of a program that is gone may take a moment.
            while kill(process, 0) == 0, ThisProcess.isRunning(process) { await Task.yield() }
        }
    }
}
