import ArgumentParser
import Foundation
import TestSupport
import Testing

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

    @Test("A signal cancels the command, whose exit status contains its number", arguments: [SIGINT, SIGTERM, SIGHUP])
    func cancels(_ number: Int32) async {
        await #expect(processExitsWith: .exitCode(0)) { [number = number as Int32] in
            do {
                try await Interruption.handled {
                    kill(getpid(), number)
                    while !Task.isCancelled { await Task.yield() }
                }
                exit(2)
            } catch let error as ExitCode {
                exit(error.rawValue == 128 + number && !Interruption.isIgnored(number) ? 0 : 3)
            }
        }
    }
}
