#if HTTP
import DownloadHelper
import Foundation
import TestSupport
import Testing
import TintypeTesting

/// Processes that are measured.
@Suite("Downloads: processes", .timeLimited)
struct DownloadProcessTests {
    private func start(_ arguments: [String]) throws -> (process: Process, output: FileHandle) {
        let process = Process()
        let helper = URL(
            fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        )
        .deletingLastPathComponent().appendingPathComponent("DownloadHelper")
        process.executableURL = helper
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        return (process, pipe.fileHandleForReading)
    }

    /// Runs `body` on a thread of its own. It waits for a process that is served by the threads of Swift's concurrency.
    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
        }
    }

    /// All that a process prints.
    private func output(_ arguments: [String]) async throws -> String {
        try await onThread {
            let (process, output) = try start(arguments)
            let text = try output.readToEnd() ?? Data()
            process.waitUntilExit()
            return String(decoding: text, as: UTF8.self)
        }
    }

    @Test(
        "A body of 200 MB takes less than 10 MB above its size, progressive or not", .capability("3.9"),
        .withoutSanitizer,
        arguments: ["plain", "progressive"], [true, false])
    func memory(kind: String, isAnnounced: Bool) async throws {
        let piece = Data(repeating: 7, count: 1_000_000)
        let count = 200
        let server = try await OriginServer.start { request in
            let response = OriginResponse(chunks: Array(repeating: piece, count: request.path == "/large" ? count : 2))
            return isAnnounced ? response : response.chunked()
        }
        let text = try await output([
            "memory", server.url("/large").absoluteString, server.url("/small").absoluteString, kind,
        ])
        let lines = text.split(separator: "\n")
        let growth = try #require(lines.last.flatMap { Int($0) }, "\(lines)")
        #expect(growth >= count * 900_000 && growth < count * piece.count + 10_000_000, "\(growth)")
    }

    @Test(
        "A program whose own tasks block Swift’s threads doesn’t take its servers for silent", .capability("DLC-02"),
        .withoutSanitizer)
    func blockedThreads() async throws {
        let gate = OriginGate()
        let server = try await OriginServer.start { _ in
            OriginResponse(chunks: [Data(count: 10), Data(count: 20)], gate: gate)
        }
        gate.open()
        let url = server.url("/a").absoluteString
        let (process, output) = try start(["blocked", url])
        let text = try await onThread {
            var text = Data()
            while case let more = output.availableData, !more.isEmpty {
                text += more
                if text == Data("blocked\n".utf8) { gate.openForGood() }
            }
            process.waitUntilExit()
            return String(decoding: text, as: UTF8.self)
        }
        #expect(text == "blocked\n30\n")
    }
}
#endif
