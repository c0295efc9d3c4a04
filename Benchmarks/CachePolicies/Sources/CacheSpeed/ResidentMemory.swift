import Foundation
import Tintype

/// The memory of a process that loads small images through a manager: from the memory cache, which evicts, from disk, which evicts too, and
/// from a loader that answers from memory. Three runs, each in a process of its own.
struct ResidentMemory {
    var isSmoke: Bool
    var folder: String

    private static let urlCount = 4_000
    private var step: Int { isSmoke ? 200 : 20_000 }

    func run() throws {
        print("\n### Resident memory, MB, by the number of loads\n")
        row("run", "\(step)", "\(2 * step)", "\(3 * step)", "last ÷ first", "from memory, %", "from disk, %")
        row("---:", "---:", "---:", "---:", "---:", "---:", "---:")
        for run in 1...(isSmoke ? 1 : 3) {
            let numbers = try runChild(["--loads", "\(folder)/\(run)", "\(step)"], expecting: 5)
            let resident = numbers.prefix(3).map { $0 / 1e6 }
            row(
                ["\(run)"] + resident.map { format($0) } + [format(resident[2] / resident[0], digits: 3)]
                    + numbers.suffix(2).map { format($0 / Double(3 * step) * 100, digits: 0) })
        }
    }

    /// One run: prints the resident bytes after each step, and the loads that the memory and the disk answered.
    static func load(_ folder: String, step: Int) async throws {
        let cache = try ImageCache(
            memory: .init(capacity: .megabytes(16)),
            disk: .init(directory: folder, capacity: .megabytes(12), minimumFreeSpace: 0))
        let picture = try Image(size: PixelSize(width: 160, height: 120), isOpaque: true) {
            for x in 0..<16 {
                let color = PixelColor(red: Float(x) / 16, green: 1 - Float(x) / 16, blue: 0.5)
                $0.fill(color, x: 10 * x, y: 0, size: PixelSize(width: 10, height: 120))
            }
        }
        let loader = FileInMemory(data: try picture.encoded(as: .jpeg))
        let manager = ImageManager(cache: cache, loader: ImageLoaders([loader]), coders: ImageCoders.default)
        for part in 0..<3 {
            let tasks = (0..<8).map { worker in
                Task {
                    var random = Generator(state: UInt64(part * 8 + worker + 1))
                    for _ in 0..<step / 8 {
                        // Few are asked for often.
                        let number = Int(Double(urlCount) * pow(Double.random(in: 0..<1, using: &random), 3))
                        consume(try await manager.image(for: url(number)))
                    }
                }
            }
            for task in tasks { try await task.value }
            await manager.flush()
            print(residentBytes())
        }
        print(manager.statistics.memoryHits, manager.statistics.diskHits)
    }

    /// A loader that has the bytes of all images.
    private struct FileInMemory: ImageLoading {
        var data: Data

        func canLoad(_ url: URL) -> Bool { url.scheme == "memory" }

        func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
            // Not the same bytes for all, as a real loader.
            LoadedData(data: Data(Array(data)), url: request.url, mimeType: "image/jpeg")
        }
    }

    private static func url(_ number: Int) throws -> URL {
        guard let url = URL(string: "memory://images.example.org/\(number)") else { fail("no URL") }
        return url
    }
}
