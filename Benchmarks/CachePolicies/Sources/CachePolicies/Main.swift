import Foundation
@testable import TintypeCore

@main
enum Main {
    static let policies: [(String, @Sendable (Trace, Int) -> Misses)] = [
        ("LRU", { replay($0, capacity: $1, with: LeastRecentlyUsed.self) }),
        ("CLOCK", { replay($0, capacity: $1, with: Clock.self) }),
        ("SIEVE", { replay($0, capacity: $1, with: Sieve.self) }),
        ("S3-FIFO", { replay($0, capacity: $1, with: S3FIFO.self) }),
        ("W-TinyLFU", { replay($0, capacity: $1, with: WTinyLFU.self) }),
        ("GDSF count", { replay($0, capacity: $1, with: GDSF<MissCount>.self) }),
        ("GDSF time", { replay($0, capacity: $1, with: GDSF<MissTime>.self) }),
        ("GDSF+", { replay($0, capacity: $1, with: GDSFPlus.self) }),
        ("ARC", { replay($0, capacity: $1, with: ARC.self) }),
        ("Adaptive", { replay($0, capacity: $1, with: AdaptiveEviction.self) }),
        ("ARCGDSF", { replay($0, capacity: $1, with: ARCGDSF.self) }),
    ]

    static func main() throws {
        var traces = Generators.all
        for path in CommandLine.arguments.dropFirst() { traces.append(try Trace(csv: URL(fileURLWithPath: path))) }
        let only = ProcessInfo.processInfo.environment["ONLY"]?.split(separator: ",").map(String.init)
        let chosen = policies.filter { only?.contains($0.0) ?? true || $0.0 == "LRU" }
        print(
            "trace".padding(toLength: 34, withPad: " ", startingAt: 0),
            chosen.map { $0.0.padding(toLength: 11, withPad: " ", startingAt: 0) }.joined())
        for trace in traces {
            let footprint = trace.footprint
            for fraction in [0.01, 0.02, 0.05, 0.1, 0.25] {
                let capacity = Int(Double(footprint) * fraction)
                var line =
                    "\(trace.name) \(Int(fraction*100))%".padding(toLength: 34, withPad: " ", startingAt: 0) + " "
                var lru = 0.0
                for (name, run) in chosen {
                    let t = run(trace, capacity).timeRatio
                    if name == "LRU" {
                        lru = t; line += String(format: "%.3f      ", t)
                    } else {
                        line += String(format: "%+.1f%%", (t / lru - 1) * 100).padding(
                            toLength: 11, withPad: " ", startingAt: 0)
                    }
                }
                print(line)
            }
        }
    }
}
