#if HTTP
import DownloadHelper
import Foundation
import TestSupport
import Testing
import TintypeTesting

/// Processes that are killed, or measured. `CRASH_ROUNDS` asks for more than the usual 20 rounds.
@Suite("Downloads: processes", .timeLimited)
struct DownloadProcessTests {
    let rounds = ProcessInfo.processInfo.environment["CRASH_ROUNDS"].flatMap { Int($0) } ?? 20

    /// - Parameter fileBlocks: The largest size of a file that the process can write, in blocks of 512 bytes; `nil` for any. Above it, writing is an
    ///   error as on a full disk.
    private func start(
        _ arguments: [String], fileBlocks: Int? = nil
    ) throws -> (process: Process, output: FileHandle) {
        let process = Process()
        let helper = URL(
            fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        )
        .deletingLastPathComponent().appendingPathComponent("DownloadHelper")
        if let fileBlocks {
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            let script = "trap '' XFSZ; ulimit -f \(fileBlocks); exec \"$0\" \"$@\""
            process.arguments = ["-c", script, helper.path] + arguments
        } else {
            process.executableURL = helper
            process.arguments = arguments
        }
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
    /// - Parameters:
    ///   - fileBlocks: The largest size of a file that it can write; see `start`.
    ///   - opening: A gate that is opened when the process has received so many bytes.
    private func output(
        _ arguments: [String], fileBlocks: Int? = nil, opening: (gate: OriginGate, count: Int)? = nil
    ) async throws -> String {
        try await onThread {
            let (process, output) = try start(arguments, fileBlocks: fileBlocks)
            var text = Data()
            if let opening {
                while Self.received(text) < opening.count {
                    let more = output.availableData
                    if more.isEmpty { break }
                    text += more
                }
                opening.gate.open()
            }
            text += try output.readToEnd() ?? Data()
            process.waitUntilExit()
            return String(decoding: text, as: UTF8.self)
        }
    }

    /// The number of bytes that a process has received, of what it has printed.
    private static func received(_ text: Data) -> Int {
        String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { Int($0) }.max() ?? 0
    }

    /// Kills a process when it has received so many bytes.
    /// - Parameter first: The first byte that it asked for; `nil` before it asks.
    /// - Returns: the bytes that it has, and false if it ended by itself.
    private func kill(
        _ arguments: [String], after wanted: Int, of first: @escaping @Sendable () -> Int?
    ) async throws -> (seen: Int, wasKilled: Bool) {
        try await onThread {
            let (process, output) = try start(arguments)
            var text = Data()
            var seen = 0
            while first().map({ seen < $0 + wanted }) ?? true {
                let more = output.availableData
                if more.isEmpty { break }
                text += more
                seen = Self.received(text)
            }
            Foundation.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            return (seen, process.terminationReason == .uncaughtSignal)
        }
    }

    @Test(
        "a download that is killed again and again loses no more than the piece that is about to be written",
        .capability("3.11"))
    func killed() async throws {
        struct Script {
            /// The first bytes that were asked for, in order.
            var firsts: [Int] = []
            /// The number of bytes that the next answer sends, before it is silent; `nil` for all.
            var sent: Int?
        }
        let whole = rounds * 600_000 + 1_000_000
        let folder = try TemporaryDirectory()
        let script = Watched(Script())
        let server = try await OriginServer.start { request in
            let first = request.header("Range").flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
            let sent = script.update { script in
                script.firsts.append(first)
                return script.sent
            }
            let last = sent.map { first + $0 } ?? whole
            var response = OriginResponse(
                DownloadPayload.bytes(first..<last), status: first > 0 ? 206 : 200, headers: ["ETag": "\"1\""]
            ).announcing(contentLength: whole - first)
            if first > 0 { response = response.header("Content-Range", "bytes \(first)-\(whole - 1)/\(whole)") }
            if sent != nil { response.steps.append(.silence) }
            return response
        }
        let arguments = ["fetch", server.url("/a").absoluteString, folder.path + "/partial"]
        var generator = SeededRandom(seed: 7)
        var arrived = 0
        for round in 0..<rounds {
            let sent = Int.random(in: 1...600_000, using: &generator)
            // The process is killed when it has received all of it, or some.
            let wanted = Int.random(in: 1...sent, using: &generator)
            script.update { $0.sent = sent }
            let (seen, wasKilled) = try await kill(arguments, after: wanted) {
                script.value.firsts.count == round + 1 ? script.value.firsts.last : nil
            }
            try #require(wasKilled, "round \(round): it ended by itself")
            let first = script.value.firsts.last
            // 128 KB are written at once, up to 64 KB wait for the transfer, and chunks of the network make each a little larger.
            #expect((first ?? 0) >= arrived - 320 * 1_024, "round \(round)")
            arrived = max(seen, first ?? 0)
        }
        #expect(arrived > rounds * 10_000, "the rounds add up")
        script.update { $0.sent = nil }
        let text = try await output(arguments)
        #expect(text.hasSuffix("done \(whole) true\n"))
        #expect(script.value.firsts.last ?? 0 >= arrived - 320 * 1_024)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/partial").isEmpty)
    }

    @Test(
        "A disk that fills up, at once or in the middle, doesn't stop a transfer, and leaves no file",
        .capability("3.11"), .withoutSanitizer, arguments: [0, 1, 600, 2_000])
    func fullDisk(blocks: Int) async throws {
        let whole = 2_000_000
        let received = 1_500_000
        let gate = OriginGate()
        let cuts = Watched([received])
        let server = try await OriginServer.start { request in
            guard request.header("Range") == nil else { return .status(400) }
            let response = OriginResponse(DownloadPayload.bytes(0..<whole), headers: ["ETag": "\"1\""])
            let cut = cuts.update { $0.popLast() }
            return cut.map { response.close(after: $0, gate: gate) } ?? response
        }
        let folder = try TemporaryDirectory()
        let arguments = ["fetch", server.url("/a").absoluteString, folder.path + "/partial"]
        // What was interrupted isn't kept, because it isn't whole; the next transfer starts over. The connection ends when the process has
        // received enough to fill its disk: what still waits in the socket then is lost.
        let first = try await output(arguments, fileBlocks: blocks, opening: (gate, received))
        #expect(first.hasSuffix("failed incompleteBody\n"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/partial").isEmpty)
        let text = try await output(arguments, fileBlocks: blocks)
        #expect(text.hasSuffix("done \(whole) true\n"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/partial").isEmpty)
        #expect(server.requests.allSatisfy { $0.header("Range") == nil } && server.requestCount() == 2)
    }

    @Test(
        "a body of 200 MB takes less than 10 MB above its size, progressive or not", .capability("3.9"),
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
}
#endif
