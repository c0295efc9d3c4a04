import Foundation
import Tintype

/// The whole way from 1,000 URLs of files to thumbnails in memory, beside a loop in C that reads, decodes, and reduces the same files.
enum Loads {
    private static let box = PixelSize(width: 300, height: 300)
    /// Pictures of different sizes, each in 25 files.
    private static let sizes = 40

    static func print(_ photographs: [Photograph], rounds: Int, context: ProcessingContext) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("loads-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        Swift.print("1,000 files of 1 to 2 MP → 300 px, CPU ms for each: median (least) of \(rounds)\n")
        Swift.print("| subsampling | bare loop in C | Tintype, one after another | ratio | all at once | ratio |")
        Swift.print("| --- | --- | --- | --- | --- | --- |")
        for (name, subsampling) in [("4:2:0", ChromaSubsampling.half), ("4:4:4", .full)] {
            let files = try write(photographs, subsampling, to: folder, context: context)
            let reductions = try files.prefix(sizes).map { file in
                let data = try Data(contentsOf: file)
                let thumbnail = try Image(data: data, options: DecodeOptions(thumbnailSize: box))
                return (source: try ImageInfo(data: data).size, target: thumbnail.size)
            }
            let loops = BareLoops(size: PixelSize(width: 1, height: 1))
            let works: [() async throws -> Void] = [
                {
                    for (index, file) in files.enumerated() {
                        let (source, target) = reductions[index % sizes]
                        _ = try loops.thumbnail(try Data(contentsOf: file), of: source, to: target)
                    }
                },
                {
                    let manager = ImageManager(cache: ImageCache())
                    for file in files { _ = try await manager.image(for: ImageRequest(file, thumbnailSize: box)) }
                },
                {
                    let manager = ImageManager(cache: ImageCache())
                    let tasks = files.map { file in
                        Task { try await manager.image(for: ImageRequest(file, thumbnailSize: box)) }
                    }
                    for task in tasks { _ = try await task.value }
                },
            ]
            let times = try await compare(rounds: rounds, works)
            let cells = times.map { String(format: "%.2f (%.2f)", $0.median / 1_000, $0.least / 1_000) }
            let ratios = times.map { String(format: "%.2f", $0.median / times[0].median) }
            Swift.print("| \(name) | \(cells[0]) | \(cells[1]) | \(ratios[1]) | \(cells[2]) | \(ratios[2]) |")
            fflush(nil)  // A row takes a minute or more.
        }
    }

    /// Writes the pictures in turn, reduced to 1 to 2 megapixels.
    private static func write(
        _ photographs: [Photograph], _ subsampling: ChromaSubsampling, to folder: URL, context: ProcessingContext
    ) throws -> [URL] {
        var options = EncodeOptions()
        options[JPEGEncodeOptions.self].subsampling = subsampling
        var encoded: [Data] = []
        for index in 0..<sizes {
            let data = photographs[index % photographs.count].baseline
            let picture = try ImageCoders.inProcess.decode(data, options: DecodeOptions(), context: context)
            let pixels = 1e6 * (1 + Double(index) / Double(sizes - 1))
            let scale = (pixels / Double(picture.size.pixelCount)).squareRoot()
            let size = PixelSize(
                width: Int(Double(picture.size.width) * scale), height: Int(Double(picture.size.height) * scale))
            encoded.append(try picture.resized(to: size).encoded(as: .jpeg, options: options))
        }
        return try (0..<1_000).map { number in
            let file = folder.appendingPathComponent("\(number).jpg")
            try encoded[number % sizes].write(to: file)
            return file
        }
    }
}
