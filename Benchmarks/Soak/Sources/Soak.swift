import Foundation
import Glibc
import Tintype
import TintypeTesting

/// Loads images from a server that misbehaves, for a long time, and looks whether memory, descriptors, or threads grow:
/// `Soak URL SECONDS`, or `Soak serve`, which is the server until its input ends. scripts/soak runs both.
@main
struct Soak {
    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count == 2, arguments[1] == "serve" { return try await MisbehavingOrigin.serve() }
        guard arguments.count == 3, let base = URL(string: arguments[1]), let seconds = Double(arguments[2]) else {
            FileHandle.standardError.write(Data("usage: Soak URL SECONDS\n".utf8))
            exit(64)
        }
        let folder = try TemporaryDirectory()
        let program = try LongRunningProgram(base: base, folder: folder.path)
        let report = await program.run(for: seconds)
        print(report)
        exit(report.hasGrown ? 1 : 0)
    }
}

/// What the process holds at a moment.
struct Holdings {
    /// In kilobytes.
    var resident = 0
    var descriptors = 0
    var threads = 0

    static var now: Holdings {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        func number(_ field: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(field) } ?? ""
            return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
        }
        return Holdings(
            resident: number("VmRSS:"),
            descriptors: (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0,
            threads: number("Threads:"))
    }
}

/// The holdings of a run, from its beginning to its end.
struct SoakReport: CustomStringConvertible {
    /// The holdings at equal intervals, each when nothing was loading.
    var idle: [Holdings] = []
    var statistics = ImageManager.Statistics()

    /// True if the last quarter of the run held more than the second one. The first one fills caches and pools.
    var hasGrown: Bool {
        let quarter = idle.count / 4
        guard quarter > 0 else { return true }
        func median(_ part: ArraySlice<Holdings>, _ value: (Holdings) -> Int) -> Int {
            part.map(value).sorted()[part.count / 2]
        }
        let (early, late) = (idle[quarter..<2 * quarter], idle[(idle.count - quarter)...])
        return median(late, \.resident) > median(early, \.resident) * 11 / 10 + 4_096
            || median(late, \.descriptors) > median(early, \.descriptors) + 2
            || median(late, \.threads) > median(early, \.threads) + 2
    }

    var description: String {
        """
        loads: \(statistics.loads), from memory \(statistics.memoryHits), from disk \(statistics.diskHits), failed \(statistics.failures), \
        cancelled \(statistics.cancellations), downloads \(statistics.downloads)
        \(hasGrown ? "The process has grown." : "Nothing has grown.")
        """
    }
}
