import FoundationEssentials
import Glibc
import Tintype
import TintypeTesting

/// Measures isolated decoding beside decoding in the program, by turns. Prints a table in Markdown.
@main
struct IsolationSpeed {
    /// An image, and how it is decoded.
    struct Case {
        var name: String
        var data: Data
        /// The box of a thumbnail; `nil` for all pixels.
        var side: Int?
        var rounds: Int
    }

    /// The measurements of one way to decode one image.
    struct Samples {
        /// The time until all pixels have been looked at, in milliseconds.
        var wall: [Double] = []
        /// The part of it that is the first look at each page of the pixels.
        var look: [Double] = []
        var faults: [Double] = []
        var workerFaults: [Double] = []
    }

    static func main() throws {
        let part = CommandLine.arguments.dropFirst().first ?? ""
        print("| image, bytes | in the program | isolated | more | first look | page faults of both |")
        print("| --- | ---: | ---: | ---: | ---: | ---: |")
        for image in try cases(containing: part) { print(try row(image)) }
        guard part.isEmpty else { return }
        let pixels = try Image(data: SampleImages.draw(.mountains).data).pixels
        let times = (0..<40).map { _ in sharingTime(pixels) }
        let bytes = pixels.bytesPerRow * pixels.size.height
        print(
            "\nTo write \(bytes) bytes of pixels into new pages of shared memory: \(text(median(times))) ms")
    }

    private static func cases(containing part: String) throws -> [Case] {
        let smooth = try SampleImages.draw(.mountains).data
        let grainy = try grainy(smooth)
        var cases = [
            Case(name: "SVG, 10 KB, 48 px", data: drawing(), side: 48, rounds: 400),
            Case(name: "SVG, 10 KB, all", data: drawing(), rounds: 400),
            Case(
                name: "PNG, 0.01 MP, 48 px", data: try SampleImages.draw(.colorWheel, scale: 0.1).data, side: 48,
                rounds: 1_000),
        ]
        for format in [ImageFormat.heic, .jxl, .avif, .jpeg] {
            let icon = try SampleImages.draw(.colorWheel, scale: 0.1).data
            let small = try Image(data: icon).encoded(as: format, options: EncodeOptions(quality: 0.9))
            cases.append(Case(name: "\(format), 0.01 MP, 48 px", data: small, side: 48, rounds: 400))
            // Encoding takes seconds.
            guard part.isEmpty || "\(format), 12 MP, 300 px, all".contains(part) else { continue }
            let large =
                format == .jpeg
                ? grainy : try Image(data: grainy).encoded(as: format, options: EncodeOptions(quality: 0.8))
            cases.append(Case(name: "\(format), 12 MP, 300 px", data: large, side: 300, rounds: 30))
            cases.append(Case(name: "\(format), 12 MP, all", data: large, rounds: 20))
        }
        return cases.filter { part.isEmpty || $0.name.contains(part) }
    }

    private static func row(_ image: Case) throws -> String {
        let ways = [ImageCoders.inProcess, .inProcess.isolated(.all)]
        var options = DecodeOptions()
        options.thumbnailSize = image.side.map { PixelSize(width: $0, height: $0) }
        var samples = [Samples(), Samples()]
        for round in -2..<image.rounds {
            // Each way is the first one as often as the second one.
            for index in round % 2 == 0 ? [0, 1] : [1, 0] {
                let sample = try measure(image.data, options, ways[index])
                guard round >= 0 else { continue }
                samples[index].wall.append(sample.wall)
                samples[index].look.append(sample.look)
                samples[index].faults.append(sample.faults)
                samples[index].workerFaults.append(sample.workerFaults)
            }
        }
        let times = samples.map { median($0.wall) }
        // The differences of neighbors: what else the machine does changes more slowly.
        let more = median(zip(samples[1].wall, samples[0].wall).map { $0 - $1 })
        let faults = samples.map { Int(median($0.faults) + median($0.workerFaults)) }
        return "| \(image.name), \(image.data.count) | \(text(times[0])) ms | \(text(times[1])) ms "
            + "| \(text(more)) ms, \(text(100 * more / times[0])) % "
            + "| \(text(median(samples[0].look))), \(text(median(samples[1].look))) ms | \(faults[0]), \(faults[1]) |"
    }

    private static func median(_ values: [Double]) -> Double {
        values.isEmpty ? 0 : values.sorted()[values.count / 2]
    }

    private static func text(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }

    /// The picture with the grain of a camera, which takes a decoder as long as a photograph does.
    private static func grainy(_ data: Data) throws -> Data {
        let image = try Image(data: data)
        var pixels = try MutablePixelBuffer(size: image.size)
        var random = SeededRandom(seed: 2)
        image.pixels.withUnsafeBytes { source in
            pixels.withUnsafeMutableBytes { bytes in
                for index in stride(from: 0, to: bytes.count, by: 4) {
                    let grain = Int(truncatingIfNeeded: random.next() & 31) - 16
                    for channel in 0..<3 {
                        bytes[index + channel] = UInt8(clamping: Int(source[index + channel]) + grain)
                    }
                    bytes[index + 3] = 255
                }
            }
        }
        return try Image(pixels: pixels.freeze()).encoded(as: .jpeg, options: EncodeOptions(quality: 0.9))
    }

    /// The milliseconds that the pages of shared memory take, which isolation adds for each image whose pixels are not shrunk.
    private static func sharingTime(_ pixels: PixelBuffer) -> Double {
        let start = ContinuousClock.now
        // A file of this file system has the same pages as the memory that isolation shares.
        var path = Array("/dev/shm/pages-XXXXXX".utf8CString)
        let file = mkstemp(&path)
        precondition(file >= 0)
        unlink(path)
        defer { close(file) }
        pixels.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count, let base = bytes.baseAddress {
                let count = pwrite(file, base + done, bytes.count - done, done)
                precondition(count > 0)
                done += count
            }
        }
        return (ContinuousClock.now - start) / .milliseconds(1)
    }

    private static func measure(
        _ data: Data, _ options: DecodeOptions, _ coders: ImageCoders
    ) throws -> (wall: Double, look: Double, faults: Double, workerFaults: Double) {
        let (faults, helper) = (faults("self"), workerFaults)
        let start = ContinuousClock.now
        let image = try coders.decode(data, options: options, context: ProcessingContext())
        let decoded = ContinuousClock.now
        let sum = image.pixels.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: 4_096).reduce(0) { $0 &+ Int(bytes[$1]) }
        }
        let seen = ContinuousClock.now
        precondition(sum >= 0)
        return (
            (seen - start) / .milliseconds(1), (seen - decoded) / .milliseconds(1), Self.faults("self") - faults,
            workerFaults - helper
        )
    }

    /// The page faults of a process so far.
    private static func faults(_ process: String) -> Double {
        let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        return fields.count > 7 ? Double(fields[7]) ?? 0 : 0
    }

    /// The page faults of the processes that this one started.
    private static var workerFaults: Double {
        let children = (try? String(contentsOfFile: "/proc/self/task/\(getpid())/children", encoding: .utf8)) ?? ""
        return children.split(separator: " ").reduce(0) { $0 + faults(String($1)) }
    }

    /// Paths and a gradient.
    private static func drawing() -> Data {
        var text =
            ##"<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256"><rect width="256" height="256" fill="#eef"/>"##
        var random = SeededRandom(seed: 1)
        func number() -> Int { Int.random(in: 0..<256, using: &random) }
        while text.utf8.count < 10_000 {
            text +=
                "<path d=\"M\(number()) \(number())C\(number()) \(number()) \(number()) \(number()) \(number()) \(number())\" "
            text += "fill=\"none\" stroke=\"#\(100 + number())\" stroke-width=\"2\"/>"
        }
        return Data((text + "</svg>").utf8)
    }
}
