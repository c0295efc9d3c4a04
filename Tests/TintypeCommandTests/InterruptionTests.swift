import ArgumentParser
import Foundation
import TestSupport
import Testing
import TintypeDisplay
import TintypeTesting

@testable import CommandSupport
@testable import TintypeCommand

/// Each test runs in a process of its own, because signals belong to the process.
@Suite("Signals", .timeLimited)
struct InterruptionTests {
    @Test("A signal that is ignored at the start, as under nohup, stays ignored")
    func ignored() async {
        await #expect(processExitsWith: .exitCode(0)) {
            signal(SIGHUP, SIG_IGN)
            try await Interruption.handled {
                kill(getpid(), SIGHUP)
                // Other signals still end the command.
                if Interruption.isIgnored(SIGHUP) == false { exit(3) }
            }
            kill(getpid(), SIGHUP)
            exit(Interruption.isIgnored(SIGHUP) && !Interruption.isIgnored(SIGINT) ? 0 : 2)
        }
    }

    @Test("A closed pipe doesn't end the command in the middle of its work")
    func closedPipe() async {
        await #expect(processExitsWith: .exitCode(0)) {
            signal(SIGPIPE, SIG_DFL)
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0 else { exit(2) }
            close(ends[0])
            dup2(ends[1], STDOUT_FILENO)
            try await Interruption.handled { StandardOutput.write("x") }
            exit(StandardOutput.hasFailed ? 1 : 0)
        }
    }

    @Test("A second signal ends a command that doesn't tidy up, but the settings of the terminal are restored")
    func lastWords() async throws {
        let folder = try TemporaryDirectory()
        await #expect(processExitsWith: .signal(SIGINT)) { [path = folder.path + "/said" as String] in
            Interruption.lastWords.withLock { $0 = { close(creat(path, 0o600)) } }
            try await Interruption.handled {
                kill(getpid(), SIGINT)
                while !Task.isCancelled { await Task.yield() }
                kill(getpid(), SIGINT)
                while true { await Task.yield() }
            }
        }
        #expect(FileManager.default.fileExists(atPath: folder.path + "/said"))
    }

    @Test("Each change of the terminal's window is told with the new size")
    func windowChanges() async {
        await #expect(processExitsWith: .exitCode(0)) {
            var (terminal, output): (Int32, Int32) = (0, 0)
            var window = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
            guard openpty(&terminal, &output, nil, nil, &window) == 0, dup2(output, STDOUT_FILENO) >= 0 else { exit(2) }
            var sizes = Terminal.sizes().makeAsyncIterator()
            let end = ContinuousClock.now + .seconds(60)
            for columns in [100, 60] as [UInt16] {
                window.ws_col = columns
                guard ioctl(terminal, UInt(TIOCSWINSZ), &window) == 0 else { exit(3) }
                // More than one signal, because those before the source is registered are lost.
                let signals = Task {
                    while !Task.isCancelled {
                        if ContinuousClock.now > end { exit(4) }
                        kill(getpid(), SIGWINCH)
                        await Task.yield()
                    }
                }
                // A size from before the change may still come.
                while await sizes.next() != CellSize(columns: Int(columns), rows: 24) {}
                signals.cancel()
            }
            exit(0)
        }
    }

    @Test("A terminal that is closed hangs up twice, and the command tidies up all the same")
    func closedTerminal() async throws {
        let folder = try TemporaryDirectory()
        await #expect(processExitsWith: .signal(SIGHUP)) { [path = folder.path + "/tidy" as String] in
            try await Interruption.handled {
                kill(getpid(), SIGHUP)
                while !Task.isCancelled { await Task.yield() }
                kill(getpid(), SIGHUP)
                // Long enough for the signal to arrive.
                try? await Task.detached { try await Task.sleep(for: .milliseconds(50)) }.value
                close(creat(path, 0o600))
            }
            exit(2)
        }
        #expect(FileManager.default.fileExists(atPath: folder.path + "/tidy"))
    }

    @Test(
        "What a file has that a descriptor adds to stays",
        arguments: ["/dev/stdout", "/dev/fd/1", "/dev/stderr", "/dev/fd/7", "/proc/self/fd/7"])
    func descriptors(_ name: String) async throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write(Data("old ".utf8), to: "a").path
        await #expect(processExitsWith: .exitCode(0)) { [file = file as String, name = name as String] in
            let end = open(file, O_WRONLY | O_APPEND)
            for descriptor in [STDOUT_FILENO, STDERR_FILENO, 7] {
                guard dup2(end, descriptor) >= 0 else { exit(2) }
            }
            try OutputFile.replace(name, with: Data("new".utf8))
            exit(0)
        }
        #expect(FileManager.default.contents(atPath: file) == Data("old new".utf8))
    }

    @Test(
        "A signal cancels the command, which tidies up and dies of it, so that a shell ends its loop",
        arguments: [SIGINT, SIGTERM, SIGHUP])
    func cancels(_ number: Int32) async throws {
        let folder = try TemporaryDirectory()
        await #expect(processExitsWith: .signal(number)) {
            [number = number as Int32, path = folder.path + "/tidy" as String] in
            try await Interruption.handled {
                kill(getpid(), number)
                while !Task.isCancelled { await Task.yield() }
                close(creat(path, 0o600))
            }
            exit(2)
        }
        #expect(FileManager.default.fileExists(atPath: folder.path + "/tidy"))
    }
}
