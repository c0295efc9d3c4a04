import Foundation

/// Milliseconds of processor time, of the program and of the system for it, since the program began.
func processorTime() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func milliseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1_000 + Double(time.tv_usec) / 1_000 }
    return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime)
}

/// What several pieces of work take, which take turns: the median and the least of each, in milliseconds.
func compare(rounds: Int, _ works: [() throws -> Void]) throws -> [(median: Double, least: Double)] {
    var times = works.map { _ in [Double]() }
    for round in 0...rounds {
        for (index, work) in works.enumerated() {
            let start = processorTime()
            try work()
            // The first round fills caches and pools.
            if round > 0 { times[index].append(processorTime() - start) }
        }
    }
    return times.map(summary)
}

/// The same for asynchronous work, with the time of all threads.
func compare(rounds: Int, _ works: [() async throws -> Void]) async throws -> [(median: Double, least: Double)] {
    var times = works.map { _ in [Double]() }
    for round in 0...rounds {
        for (index, work) in works.enumerated() {
            let start = processorTime()
            try await work()
            if round > 0 { times[index].append(processorTime() - start) }
        }
    }
    return times.map(summary)
}

private func summary(_ times: [Double]) -> (median: Double, least: Double) {
    let sorted = times.sorted()
    return (sorted[sorted.count / 2], sorted[0])
}
