import Foundation
import Tintype

@testable import TintypeImages

/// Prints the processor time and the memory of playing a long GIF, beside those of decoding each frame once, as Markdown.
///
///     AnimationSpeed [--smoke] [--rounds COUNT]
@main
enum Main {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.count == 3, let measured = arguments.first.flatMap(Playback.init), let rate = Double(arguments[3])
        {
            return try await measure(measured, arguments[2], rate: rate)
        }
        let isSmoke = arguments.contains("--smoke")
        let rounds = arguments.firstIndex(of: "--rounds").flatMap { Int(arguments[$0 + 1]) } ?? (isSmoke ? 1 : 3)
        for frames in SampleGIF.Frames.allCases {
            let gif =
                isSmoke
                ? SampleGIF(width: 192, height: 108, frames: frames, count: 100)
                : SampleGIF(width: 1_920, height: 1_080, frames: frames, count: 500)
            try compare(gif, rounds: rounds, rate: isSmoke ? 20 : 2)
        }
    }

    private static func compare(_ gif: SampleGIF, rounds: Int, rate: Double) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "animation-speed-\(getpid()).gif")
        defer { try? FileManager.default.removeItem(at: file) }
        let data = gif.encoded()
        try data.write(to: file)
        print(
            "\n### \(gif.count) frames of \(gif.width) × \(gif.height), each with "
                + "\(gif.frames == .whole ? "all pixels" : "the part that changed"), \(data.count / 1_000_000) MB\n")
        print(
            "| | processor, s | ÷ decoder | canvases in use | memory, in canvases |\n| --- | ---: | ---: | ---: | ---: |"
        )
        var results: [Playback: [Result]] = [:]
        // In turns, so that whatever else the machine does affects all of them.
        for _ in 0..<rounds {
            for playback in Playback.allCases {
                results[playback, default: []].append(try child(playback, file.path, rate: rate))
            }
        }
        let canvas = Double(PixelBufferPool.footprint(of: PixelSize(width: gif.width, height: gif.height)))
        let decoder = results[.decoder] ?? []
        for playback in Playback.allCases {
            guard let runs = results[playback] else { continue }
            let ratios = zip(runs, decoder).map { $0.processor / $1.processor }
            print(
                "| \(playback.rawValue) | \(format(median(runs.map(\.processor)))) | \(format(median(ratios))) | "
                    + "\(format((runs.map(\.pool).max() ?? 0) / canvas)) | "
                    + "\(format((runs.map(\.resident).max() ?? 0) / canvas)) |")
        }
    }

    /// The processor time in seconds, the most pixel memory in use, and the growth of the process's memory, in bytes.
    private struct Result {
        var processor: Double
        var pool: Double
        var resident: Double
    }

    /// Measures in a process of its own, whose memory nothing has grown before.
    private static func child(_ playback: Playback, _ path: String, rate: Double) throws -> Result {
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        process.arguments = [playback.rawValue, path, "\(rate)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard process.terminationStatus == 0, numbers.count == 3 else { fail("\(playback.rawValue) failed: \(text)") }
        return Result(processor: numbers[0], pool: numbers[1], resident: numbers[2])
    }

    private static func measure(_ playback: Playback, _ path: String, rate: Double) async throws {
        let data = try Data(contentsOf: URL(filePath: path))
        let (resident, start) = (status("VmRSS:"), processorTime())
        try await playback.run(data, rate: rate)
        print(
            processorTime() - start, PixelBufferPool.shared.statistics.peakBytes, status("VmHWM:") - resident)
    }

    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// A number of bytes that the kernel tells about this process.
    private static func status(_ name: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map { $0 << 10 } ?? 0
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
    }

    private static func format(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
}
