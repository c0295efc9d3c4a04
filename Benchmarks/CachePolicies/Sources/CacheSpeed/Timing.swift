import Glibc
import Synchronization

/// Nanoseconds of a clock.
func nanoseconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// The processor's time that `body` takes on this thread, in nanoseconds.
func processorTime(_ body: () -> Void) -> Double {
    let start = nanoseconds(CLOCK_THREAD_CPUTIME_ID)
    body()
    return nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start
}

/// The time that passes while `body` runs, in nanoseconds.
func wallTime(_ body: () -> Void) -> Double {
    let start = nanoseconds(CLOCK_MONOTONIC)
    body()
    return nanoseconds(CLOCK_MONOTONIC) - start
}

/// The time that passes while `body` runs, and the processors' time of all threads of the process, in nanoseconds.
func times(_ body: () async throws -> Void) async rethrows -> (wall: Double, processor: Double) {
    let start = (nanoseconds(CLOCK_MONOTONIC), nanoseconds(CLOCK_PROCESS_CPUTIME_ID))
    try await body()
    let end = (nanoseconds(CLOCK_MONOTONIC), nanoseconds(CLOCK_PROCESS_CPUTIME_ID))
    return (end.0 - start.0, end.1 - start.1)
}

/// The seconds of processor time that the kernel has used for the process.
func kernelTime() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return Double(usage.ru_stime.tv_sec) + Double(usage.ru_stime.tv_usec) / 1e6
}

/// What was measured, in the unit of whoever measured.
struct Sample {
    private var values: [Double] = []

    mutating func add(_ value: Double) { values.append(value) }

    mutating func add(_ other: Sample) { values += other.values }

    var mean: Double { values.reduce(0, +) / Double(values.count) }
    var median: Double { quantile(0.5) }
    var least: Double { quantile(0) }

    func quantile(_ part: Double) -> Double {
        let sorted = values.sorted()
        guard let last = sorted.last else { return .nan }
        return min(last, sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))])
    }
}

/// Runs several things in turn, so that whatever else the machine does hits all of them.
/// - Parameter bodies: each measures itself once.
func interleaved(rounds: Int, _ bodies: [() -> Double]) -> [Sample] {
    var samples = bodies.map { _ in Sample() }
    for round in 0...rounds {
        for index in bodies.indices {
            let value = bodies[index]()
            if round > 0 { samples[index].add(value) }  // The first one warms up.
        }
    }
    return samples
}

/// Runs `body` on so many threads at once.
/// - Returns: the time from when all are there until the last one is done, and the processors' time of all, in nanoseconds.
func onThreads(_ count: Int, _ body: @escaping @Sendable (_ thread: Int) -> Void) -> (wall: Double, processor: Double) {
    final class Meeting: Sendable {
        let arrived = Atomic<Int>(0)
        let body: @Sendable (Int) -> Void
        init(_ body: @escaping @Sendable (Int) -> Void) { self.body = body }
    }
    final class Runner {
        let meeting: Meeting
        let index: Int
        let count: Int
        var span = (0.0, 0.0)
        var processor = 0.0
        init(_ meeting: Meeting, _ index: Int, _ count: Int) {
            (self.meeting, self.index, self.count) = (meeting, index, count)
        }
    }
    let meeting = Meeting(body)
    let runners = (0..<count).map { Runner(meeting, $0, count) }
    let threads = runners.map { runner in
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let runner = Unmanaged<Runner>.fromOpaque(context).takeUnretainedValue()
                runner.meeting.arrived.wrappingAdd(1, ordering: .acquiringAndReleasing)
                while runner.meeting.arrived.load(ordering: .acquiring) < runner.count {}
                let start = nanoseconds(CLOCK_MONOTONIC)
                runner.processor = processorTime { runner.meeting.body(runner.index) }
                runner.span = (start, nanoseconds(CLOCK_MONOTONIC))
                return nil
            }, Unmanaged.passUnretained(runner).toOpaque())
        return thread
    }
    for thread in threads { pthread_join(thread, nil) }
    return withExtendedLifetime(runners) {
        let wall = (runners.map(\.span.1).max() ?? 0) - (runners.map(\.span.0).min() ?? 0)
        return (wall, runners.reduce(0) { $0 + $1.processor })
    }
}

func row(_ cells: String...) { row(cells) }

func row(_ cells: [String]) {
    print("| \(cells.joined(separator: " | ")) |")
    fflush(nil)  // Some rows take minutes.
}

func format(_ value: Double, digits: Int = 1) -> String {
    guard value.isFinite else { return "" }
    let scale = [1.0, 10, 100][min(2, digits)]
    let rounded = (value * scale).rounded() / scale
    return digits == 0 ? "\(Int(rounded))" : "\(rounded)"
}
