internal import ArgumentParser
internal import Tintype
internal import TintypeCore

extension CacheCommand {
    /// `tintype cache replay TRACE`
    struct Replay: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replay recorded requests with the eviction policies of the caches.",
            discussion: """
                A trace is a text file with a line for each request, `seq,key,size`: a number or a time, which is ignored, the \
                name of the image, and its size in bytes. The first line may contain titles.

                LRU is the policy of the disk cache, and adaptive that of the memory cache. GDSF, which weighs uses by the cost \
                of loading, is for comparison. `hits` and `bytes` are the fractions of requests and bytes that the cache \
                served. `decode` and `load` compare the time for misses with that of LRU, for a cache in memory (0.3 ms, plus \
                2 ms per megabyte) and on disk (60 ms, plus the time at 2 MB per second).
                """)

        @Argument(help: ArgumentHelp("A CSV file, or - for standard input.", valueName: "trace"), completion: .file())
        var trace: String

        @Option(
            parsing: .upToNextOption,
            help: ArgumentHelp(
                "Sizes of the cache: 64MB, or a part of all requested images, such as 5%. (default: 1% 2% 5% 10% 25%)",
                valueName: "size"))
        var size: [CapacityArgument] = []

        @Flag(help: "Print one JSON object per line.")
        var json = false

        func run() throws { try run(Console.standard) }

        func run(_ console: Console) throws {
            do throws(ImageError) {
                let trace = try read()
                let sizes = size.isEmpty ? [1, 2, 5, 10, 25].map { CapacityArgument(percent: $0) } : size
                var table = Table([
                    ("cache", .right), ("policy", .left), ("hits", .right), ("bytes", .right), ("decode", .right),
                    ("load", .right),
                ])
                for size in sizes {
                    let capacity = size.bytes(of: trace.footprint)
                    let plain = CacheReplay.run(trace, policy: .leastRecentlyUsed, capacity: capacity)
                    for policy in CacheReplay.Policy.allCases {
                        let result =
                            policy == .leastRecentlyUsed
                            ? plain : CacheReplay.run(trace, policy: policy, capacity: capacity)
                        let report = ReplayReport(policy, capacity: capacity, result, besides: plain)
                        if json {
                            console.print(JSONLine.encode(report))
                        } else {
                            table.add(report.cells)
                        }
                    }
                }
                guard !json else { return }
                console.print(
                    "\(self.trace): \(counted(trace.requests.count, "request")) for \(counted(trace.objects, "image")) of "
                        + "\(ByteCount(trace.footprint))")
                table.lines.forEach(console.print)
            } catch {
                console.error(error.withSource(self.trace))
                throw ExitCode(1)
            }
        }

        private func read() throws(ImageError) -> CacheTrace {
            let data = try InputFile.contents(of: trace)
            guard !data.starts(with: [0x1F, 0x8B]) else {
                throw ImageError(
                    .fileUnreadable, stage: .load,
                    reason: "the trace is compressed; use `gunzip -c \(trace) | tintype cache replay -`")
            }
            do throws(CacheTrace.SyntaxError) {
                let trace = try CacheTrace(csv: String(decoding: data, as: UTF8.self))
                if !trace.requests.isEmpty { return trace }
            } catch {
                throw ImageError(
                    .fileUnreadable, stage: .load,
                    reason: "line \(error.line) is not `seq,key,size` with a size in bytes")
            }
            throw ImageError(.fileUnreadable, stage: .load, reason: "the trace has no lines of `seq,key,size`")
        }
    }
}

/// The JSON report of a policy and a cache size.
struct ReplayReport: Encodable {
    var policy: String
    var capacity: Int
    var requests: Int
    var hits: Int
    var hitRatio: Double
    var byteHitRatio: Double
    /// The percentage by which misses take more time than with LRU.
    var decodeTimeBesideLRU: Double
    var loadTimeBesideLRU: Double

    init(
        _ policy: CacheReplay.Policy, capacity: Int, _ result: CacheReplay.Result, besides plain: CacheReplay.Result
    ) {
        self.policy = policy.rawValue
        self.capacity = capacity
        requests = result.requests
        hits = result.hits
        hitRatio = Self.rounded(result.hitRatio, 10_000)
        byteHitRatio = Self.rounded(result.byteRatio, 10_000)
        decodeTimeBesideLRU = Self.change(result.decodeTime, plain.decodeTime)
        loadTimeBesideLRU = Self.change(result.loadTime, plain.loadTime)
    }

    private static func rounded(_ value: Double, _ scale: Double) -> Double { (value * scale).rounded() / scale }

    private static func change(_ value: Double, _ base: Double) -> Double {
        base == 0 ? 0 : rounded((value / base - 1) * 100, 100)
    }

    var cells: [String] {
        func percent(_ value: Double) -> String { "\(value > 0 ? "+" : "")\(value.fixed(1)) %" }
        return [
            "\(ByteCount(capacity))", policy, "\((hitRatio * 100).fixed(1)) %", "\((byteHitRatio * 100).fixed(1)) %",
            percent(decodeTimeBesideLRU), percent(loadTimeBesideLRU),
        ]
    }
}
