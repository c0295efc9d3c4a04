import FoundationEssentials
import Glibc
import Tintype
import TintypeTesting

/// Measures isolated decoding beside decoding in the process, alternately. Prints a table in Markdown.
@main
struct IsolationSpeed {
    /// The measurements of one way to decode one image.
    struct Samples {
        var wall: [Double] = []
        /// The time of the first look at each page of the pixels.
        var look: [Double] = []
        var faults: [Double] = []
        var workerFaults: [Double] = []

        func row(_ name: String) -> String {
            let times = "\(name) | \(Self.milliseconds(wall)) | \(Self.milliseconds(look))"
            return "| \(times) | \(Int(Self.median(faults))) | \(Int(Self.median(workerFaults))) |"
        }

        static func median(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.sorted()[values.count / 2] }

        static func milliseconds(_ values: [Double]) -> String {
            func text(_ value: Double) -> String { "\((value * 1_000).rounded() / 1_000)" }
            return "\(text(median(values))) ms (\(text(values.min() ?? 0)))"
        }
    }

    static func main() throws {
        let ways = [
            ("in the process", ImageCoders.inProcess), ("isolated", ImageCoders.inProcess.isolated(.all)),
        ]
        let smooth = try SampleImages.draw(.mountains).data
        let images = [
            ("JPEG, 12 MP, with grain", try grainy(smooth), 40), ("JPEG, 12 MP, smooth", smooth, 40),
            ("JPEG, 12 MP, smooth, 400 px", smooth, 60), ("SVG, 10 KB", drawing(), 400),
            ("PNG, 0.01 MP", try SampleImages.draw(.colorWheel, scale: 0.1).data, 1_000),
        ]
        print(
            "| image, bytes, way | decode, median (minimum) | first look at the pixels | page faults | of the worker |")
        print("| --- | ---: | ---: | ---: | ---: |")
        for (name, data, rounds) in images {
            var options = DecodeOptions()
            if name.hasSuffix("px") { options.thumbnailSize = PixelSize(width: 400, height: 400) }
            var samples = [Samples(), Samples()]
            for round in -3..<rounds {
                for (index, way) in ways.enumerated() {
                    let sample = try measure(data, options, way.1)
                    guard round >= 0 else { continue }
                    samples[index].wall.append(sample.wall)
                    samples[index].look.append(sample.look)
                    samples[index].faults.append(sample.faults)
                    samples[index].workerFaults.append(sample.workerFaults)
                }
            }
            for (way, samples) in zip(ways, samples) { print(samples.row("\(name), \(data.count), \(way.0)")) }
        }
        let pixels = try Image(data: smooth).pixels
        let times = (0..<40).map { _ in sharingTime(pixels) }
        print(
            "\nTo write \(pixels.byteCount) bytes of pixels into new pages of shared memory: \(Samples.milliseconds(times))"
        )
    }

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
        let image = try coders.decode(data, options: options, context: DecodeContext())
        let decoded = ContinuousClock.now
        let sum = image.pixels.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: 4_096).reduce(0) { $0 &+ Int(bytes[$1]) }
        }
        let seen = ContinuousClock.now
        precondition(sum >= 0)
        return (
            (decoded - start) / .milliseconds(1), (seen - decoded) / .milliseconds(1), Self.faults("self") - faults,
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
