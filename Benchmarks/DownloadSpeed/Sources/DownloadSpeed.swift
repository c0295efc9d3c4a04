import AsyncHTTPClient
import Foundation
import Glibc
import NIOCore
import NIOSSL
import Tintype
import TintypeTesting

/// Compares `ImageDownloader` with a bare loop of the HTTP client that it is built on: `DownloadSpeed URL COUNT [ROOTS]`, or `DownloadSpeed serve`,
/// which serves files until its input ends. scripts/download-speed runs it. For a profiler, `--only bare` or `--only tintype` at the end runs one
/// of the two, once.
@main
struct DownloadSpeed {
    static let atATime = 64
    static let files = 500

    static func main() {
        // Not asynchronous, because valgrind can't follow the end of the first thread, which an asynchronous program begins with.
        Task.detached {
            do {
                try await run()
                exit(0)
            } catch {
                FileHandle.standardError.write(Data("\(error)\n".utf8))
                exit(1)
            }
        }
        while true { pause() }
    }

    private static func run() async throws {
        var arguments = CommandLine.arguments
        var only: String?
        if let option = arguments.firstIndex(of: "--only") {
            only = arguments.dropFirst(option + 1).first
            arguments.removeSubrange(option...)
        }
        if arguments.count == 2, arguments[1] == "serve" { return try await serve() }
        guard (3...4).contains(arguments.count), let base = URL(string: arguments[1]), let count = Int(arguments[2])
        else {
            FileHandle.standardError.write(Data("usage: DownloadSpeed URL COUNT [ROOTS] [--only bare|tintype]\n".utf8))
            exit(64)
        }
        let roots = try arguments.count > 3 ? Data(contentsOf: URL(filePath: arguments[3])) : nil
        try await compare(base, count: count, roots: roots, only: only)
    }

    /// Serves random bytes of 20 KB at any path.
    private static func serve() async throws {
        let body = Data((0..<20_480).map { _ in UInt8.random(in: 0...255) })
        let server = try await OriginServer.start { _ in OriginResponse(body, type: "image/jpeg") }
        print(server.url("/").absoluteString)
        fflush(nil)
        while readLine() != nil {}
        await server.stop()
    }

    private static func compare(_ base: URL, count: Int, roots: Data?, only: String?) async throws {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = atATime
        configuration.decompression = .disabled
        var options = TLSOptions()
        if let roots {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(roots)))
            configuration.tlsConfiguration = tls
            options.trustRoots = roots
        }
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let downloader = ImageDownloader(.init(maximumConcurrentDownloads: atATime, tls: options, usesHTTP2: true))
        let headers = ImageDownloader.Configuration.defaultHeaders

        @Sendable func bare(_ url: String) async throws -> Int {
            var request = HTTPClientRequest(url: url)
            for (name, value) in headers { request.headers.add(name: name, value: value) }
            let response = try await client.execute(request, timeout: .seconds(15))
            guard response.status == .ok else { throw Failure.status(Int(response.status.code)) }
            var bytes = 0
            for try await buffer in response.body { bytes += buffer.readableBytes }
            return bytes
        }
        @Sendable func tintype(_ url: String) async throws -> Int {
            guard let url = URL(string: url) else { throw Failure.url }
            return try await downloader.load(LoadRequest(url: url)).data.count
        }

        if let only {
            let time = try await run(count, base, only == "bare" ? bare : tintype)
            print("\(only): \(String(format: "%.2f", time)) µs of processor time per request, with connecting")
            await downloader.shutdown()
            return try await client.shutdown()
        }
        let blocks = max(1, count / 1_000)
        let each = count / blocks
        // The first block of each warms up connections and memory.
        _ = try await run(each, base, bare)
        _ = try await run(each, base, tintype)
        let first = memory()
        var times: [(bare: Double, tintype: Double)] = []
        for block in 0..<blocks {
            // In turn, because the machine changes its speed.
            if block % 2 == 0 {
                let one = try await run(each, base, bare)
                times.append((one, try await run(each, base, tintype)))
            } else {
                let other = try await run(each, base, tintype)
                times.append((try await run(each, base, bare), other))
            }
        }
        let last = memory()
        func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
        func text(_ value: Double) -> String { String(format: "%.2f", value) }
        print("requests each: \(each * blocks), \(atATime) at a time")
        print("bare client: \(text(median(times.map(\.bare)))) µs of processor time per request")
        print("ImageDownloader: \(text(median(times.map(\.tintype)))) µs")
        print("ratio: \(text(median(times.map { $0.tintype / $0.bare }))) (median of blocks)")
        print("resident memory: \(first) KB after the first block, \(last) KB after the last")
        await downloader.shutdown()
        try await client.shutdown()
    }

    private enum Failure: Error { case status(Int), url, size(Int) }

    /// Loads files, and returns the microseconds of processor time per file.
    private static func run(
        _ count: Int, _ base: URL, _ load: @escaping @Sendable (String) async throws -> Int
    ) async throws -> Double {
        let start = processorTime()
        let prefix = base.absoluteString
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<atATime {
                group.addTask {
                    for number in stride(from: worker, to: count, by: atATime) {
                        let size = try await load("\(prefix)\(number % files).jpg")
                        guard size == 20_480 else { throw Failure.size(size) }
                    }
                }
            }
            try await group.waitForAll()
        }
        return (processorTime() - start) / Double(count)
    }

    /// The processor time of the process, in microseconds.
    private static func processorTime() -> Double {
        var usage = rusage()
        getrusage(0, &usage)  // The type of the constant depends on what else is imported.
        func microseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1e6 + Double(time.tv_usec) }
        return microseconds(usage.ru_utime) + microseconds(usage.ru_stime)
    }

    /// The resident memory, in KB.
    private static func memory() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
