// The list of benchmarks is a variable of a module without strict concurrency; all of it happens on the main thread.
@preconcurrency import Benchmark
import Foundation

/// Every benchmark prints wall time and peak memory; quote medians, and ratios between benchmarks of one run.
let benchmarks: @Sendable () -> Void = {
    let isSmoke = ProcessInfo.processInfo.environment["BENCHMARK_SMOKE"] != nil
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .throughput, .peakMemoryResident],
        warmupIterations: 1,
        maxDuration: isSmoke ? .milliseconds(300) : .seconds(3),
        maxIterations: isSmoke ? 3 : 10_000)
    // Run by itself, without the plug-in, the program would end at a failure as if nothing had happened.
    Benchmark.teardown = {
        guard isSmoke, let failed = Benchmark.benchmarks.first(where: { $0.failureReason != nil }) else { return }
        fatalError("\(failed.name): \(failed.failureReason ?? "")")
    }
    cacheBenchmarks()
    codecBenchmarks()
    #if NETWORK
    loadBenchmarks()
    #endif
}
