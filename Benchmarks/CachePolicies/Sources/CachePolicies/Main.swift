import Foundation

@testable import TintypeCaching

/// Prints what the misses of each policy cost on each trace, as Markdown.
///
///     CachePolicies [FOLDER]     with the traces NAME.csv of a folder, and NAME.reference.json where there is one
@main
enum Main {
    typealias Run = @Sendable (Trace, _ capacity: Int) -> Misses

    static let policies: [(name: String, run: Run)] = [
        ("LRU", { replay($0, capacity: $1, with: LeastRecentlyUsed.self) }),
        ("CLOCK", { replay($0, capacity: $1, with: Clock.self) }),
        ("SIEVE", { replay($0, capacity: $1, with: Sieve.self) }),
        ("S3-FIFO", { replay($0, capacity: $1, with: S3FIFO.self) }),
        ("W-TinyLFU", { replay($0, capacity: $1, with: WTinyLFU.self) }),
        ("ARC", { replay($0, capacity: $1, with: ARC.self) }),
        ("GDSF", { replay($0, capacity: $1, with: GDSF<MissCount>.self) }),
        ("GDSF, time", { replay($0, capacity: $1, with: GDSF<MissTime>.self) }),
        ("adaptive", { replay($0, capacity: $1, with: AdaptiveEviction.self) }),
    ]

    static let fractions = [0.01, 0.02, 0.05, 0.1, 0.25]

    static func main() throws {
        var traces = Generators.all
        var references: [(Trace, Reference)] = []
        if let folder = CommandLine.arguments.dropFirst().first {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            for name in names where name.hasSuffix(".csv") {
                let url = URL(fileURLWithPath: folder).appendingPathComponent(name)
                let trace = try Trace(csv: url)
                traces.append(trace)
                let reference = url.deletingPathExtension().appendingPathExtension("reference.json")
                guard FileManager.default.fileExists(atPath: reference.path) else { continue }
                references.append((trace, try Reference(reference)))
            }
        }
        printTimes(traces)
        printRatios(traces)
        printLoadTimes(traces)
        if !references.isEmpty { printReferences(references) }
    }

    /// The time that misses cost: for LRU as a part of what no cache at all would cost, for the others beside LRU.
    static func printTimes(_ traces: [Trace]) {
        print("### Time of misses: LRU, and the difference of the others\n")
        row(["trace", "cache"] + policies.map(\.name))
        row(["---", "---:"] + policies.map { _ in "---:" })
        for trace in traces {
            let footprint = trace.footprint
            for fraction in fractions {
                let times = policies.map { $0.run(trace, Int(Double(footprint) * fraction)).timeRatio }
                let others = times.dropFirst().map { String(format: "%+.1f %%", ($0 / times[0] - 1) * 100) }
                row([trace.name, "\(Int(fraction * 100)) %", String(format: "%.3f", times[0])] + others)
            }
        }
    }

    static func printRatios(_ traces: [Trace]) {
        print("\n### Missed objects / bytes / time, cache of 5 %\n")
        row(["trace"] + policies.map(\.name))
        row(["---"] + policies.map { _ in "---" })
        for trace in traces {
            let capacity = trace.footprint / 20
            row(
                [trace.name]
                    + policies.map {
                        let misses = $0.run(trace, capacity)
                        return [misses.objectRatio, misses.byteRatio, misses.timeRatio]
                            .map { String(format: "%.3f", $0) }.joined(separator: " / ")
                    })
        }
    }

    /// The time that the misses of a cache on disk cost with GDSF, beside LRU, which is the policy of the disk cache.
    static func printLoadTimes(_ traces: [Trace]) {
        let fractions = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5]
        print("\n### Time of misses of a cache on disk: GDSF by this time, and its difference from LRU\n")
        row(["trace"] + fractions.map { "\(Int($0 * 100)) %" })
        row(["---"] + fractions.map { _ in "---:" })
        for trace in traces {
            let footprint = trace.footprint
            row(
                [trace.name]
                    + fractions.map { fraction in
                        let capacity = Int(Double(footprint) * fraction)
                        let plain = replay(trace, capacity: capacity, with: LeastRecentlyUsed.self).loadTime
                        let weighed = replay(trace, capacity: capacity, with: GDSF<MissLoadTime>.self).loadTime
                        return String(format: "%+.1f %%", (weighed / plain - 1) * 100)
                    })
        }
    }

    static func printReferences(_ references: [(Trace, Reference)]) {
        let names = ["LRU": "LRU", "Clock": "CLOCK", "S3FIFO": "S3-FIFO", "WTinyLFU": "W-TinyLFU"]
        print("\n### The simulator here beside \(references[0].1.simulator): ratio of hits\n")
        row(["trace", "policy", "capacity", "here", "there", "bytes, here", "there"])
        row(["---", "---", "---:", "---:", "---:", "---:", "---:"])
        for (trace, reference) in references {
            for result in reference.results {
                guard let name = names[result.policy], let run = policies.first(where: { $0.name == name })?.run else {
                    continue
                }
                let misses = run(trace, result.capacity)
                let figures = [1 - misses.objectRatio, result.hitRatio, 1 - misses.byteRatio, result.byteHitRatio]
                row([trace.name, name, "\(result.capacity)"] + figures.map { String(format: "%.3f", $0) })
            }
        }
    }

    static func row(_ cells: [String]) { print("| \(cells.joined(separator: " | ")) |") }
}
