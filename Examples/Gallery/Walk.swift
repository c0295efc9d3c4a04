#if GTK
import Foundation
import Tintype

/// What came of showing all images of a folder.
struct Walk {
    private var shown = 0
    private var failures: [String: Int] = [:]
    private var blackPictures: [String] = []
    private var slowest: (time: Duration, name: String) = (.zero, "")
    private var last = ContinuousClock.now
    private var memory: [Int] = []

    mutating func note(_ result: Result<ImageResult, ImageError>, of url: URL, pass: Int) {
        let now = ContinuousClock.now
        if now - last > slowest.time { slowest = (now - last, url.lastPathComponent) }
        last = now
        guard pass == 1 else { return }
        switch result {
        case .success(let result):
            shown += 1
            if Self.isBlack(result.image) { blackPictures.append(url.lastPathComponent) }
        case .failure(let error): failures["\(error.code)", default: 0] += 1
        }
    }

    mutating func endPass() { memory.append(Self.residentMegabytes()) }

    var report: String {
        let failed = failures.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        return """
            shown: \(shown), failed: \(failures.values.reduce(0, +))\(failed.isEmpty ? "" : " (\(failed))")
            opaque black pictures: \(blackPictures.isEmpty ? "none" : blackPictures.joined(separator: ", "))
            slowest: \(slowest.name), \(Int(slowest.time / .milliseconds(1))) ms
            resident memory after each pass, in MB: \(memory.map { "\($0)" }.joined(separator: ", "))
            """
    }

    /// True if all pixels are opaque and black, as memory is that nobody wrote to.
    private static func isBlack(_ image: Image) -> Bool {
        let pixels = image.pixels
        guard pixels.format == .rgba8 else { return false }
        return (0..<pixels.size.height).allSatisfy { row in
            pixels.withRow(row) { bytes in
                stride(from: 0, to: bytes.count, by: 4).allSatisfy {
                    UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt32.self)) == 0xFF00_0000
                }
            }
        }
    }

    private static func residentMegabytes() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let fields = text.split(separator: " ")
        return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(getpagesize()) / 1_000_000
    }
}
#endif
