import Foundation
import Tintype

/// Prints how much a `resize` that shrinks while decoding differs from one of the whole image, and how much of the saliency smart crops keep.
///
///     TransformFidelity FOLDER
@main
enum Main {
    static func main() async throws {
        guard CommandLine.arguments.count == 2 else {
            print("usage: TransformFidelity FOLDER")
            exit(64)
        }
        let photographs = files(in: CommandLine.arguments[1])
        try await resizes(photographs.filter { $0.pixelCount >= 500_000 }.map(\.url))
        crops(photographs.map(\.url))
    }

    /// The still, opaque images of at least 0.1 megapixels, without those that show the same as an earlier one.
    private static func files(in folder: String) -> [(url: URL, pixelCount: Int)] {
        let root = URL(filePath: folder, directoryHint: .isDirectory)
        let paths =
            FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
        var outlines: [ImageOutline] = []
        var files: [(url: URL, pixelCount: Int)] = []
        var duplicates = 0
        for url in paths.sorted(by: { $0.path < $1.path }) {
            guard let data = try? Data(contentsOf: url), let info = try? ImageInfo(data: data), info.frameCount == 1,
                !info.hasAlpha, info.size.pixelCount >= 100_000,
                let image = try? Image(
                    data: data, options: DecodeOptions(thumbnailSize: PixelSize(width: 400, height: 400))),
                let outline = try? ImageOutline(image)
            else { continue }
            guard !outlines.contains(where: { $0.isNear(outline) }) else {
                duplicates += 1
                continue
            }
            outlines.append(outline)
            files.append((url, info.size.pixelCount))
        }
        print("\(files.count) images; \(duplicates) more show the same as one of them.")
        return files
    }

    // MARK: Resizing

    private static func resizes(_ files: [URL]) async throws {
        print("\n### A resize that shrinks while decoding, compared with one of the whole image\n")
        print("| width | images | median dB | lowest dB |\n| ---: | ---: | ---: | ---: |")
        for width in [100, 200, 400, 800] {
            var figures: [Double] = []
            for file in files {
                let whole = try Image(contentsOf: file)
                guard whole.size.width >= 3 * width else { continue }
                let manager = ImageManager(
                    cache: ImageCache(), loader: ImageLoaders([FileLoader()]), coders: ImageCoders.default)
                var request = ImageRequest(file)
                request.transformer = .resize(width: width)
                let shrunk = try await manager.image(for: request)
                figures.append(decibels(try whole.transformed(.resize(width: width)), shrunk))
            }
            figures.sort()
            guard let lowest = figures.first else { continue }
            print("| \(width) | \(figures.count) | \(rounded(figures[figures.count / 2])) | \(rounded(lowest)) |")
        }
    }

    private static func decibels(_ one: Image, _ other: Image) -> Double {
        guard one.size == other.size else { return 0 }
        var sum = 0.0
        for y in 0..<one.size.height {
            for x in 0..<one.size.width {
                guard let a = one.color(x: x, y: y), let b = other.color(x: x, y: y) else { return 0 }
                for (p, q) in [(a.red, b.red), (a.green, b.green), (a.blue, b.blue)] {
                    sum += Double((p - q) * (p - q))
                }
            }
        }
        let mean = sum / Double(one.size.pixelCount * 3)
        return mean == 0 ? 99 : min(99, -10 * log10(mean))
    }

    // MARK: Cropping

    private static func crops(_ files: [URL]) {
        print("\n### The share of the saliency (spectral residual) that crops keep\n")
        print(
            "| proportions | images | center, median | smart, median | best possible, median | smart keeps more | less |\n"
                + "| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
        for (name, ratio) in [("1:1", 1.0), ("9:16", 9.0 / 16), ("3:1", 3.0)] {
            var shares: [(center: Double, smart: Double, best: Double)] = []
            for file in files {
                guard let image = try? Image(contentsOf: file),
                    let small = try? image.resized(to: image.size.scaled(into: PixelSize(width: 800, height: 800))),
                    let map = try? SpectralResidual(small),
                    let smart = try? small.transformed(.crop(aspectRatio: ratio, position: .smart)),
                    let center = try? small.transformed(.crop(aspectRatio: ratio, position: .anchor(.center)))
                else { continue }
                let ofWidth = smart.size.width < small.size.width
                let (length, kept) =
                    ofWidth ? (small.size.width, smart.size.width) : (small.size.height, smart.size.height)
                guard kept < length * 9 / 10, let smartStart = offset(of: smart, in: small, ofWidth),
                    let centerStart = offset(of: center, in: small, ofWidth)
                else { continue }
                func share(_ start: Int) -> Double {
                    map.share(
                        from: Double(start) / Double(length), to: Double(start + kept) / Double(length),
                        ofWidth: ofWidth)
                }
                let best = (0...(length - kept)).map(share).max() ?? 0
                shares.append((share(centerStart), share(smartStart), best))
            }
            guard !shares.isEmpty else { continue }
            func median(_ part: (((center: Double, smart: Double, best: Double)) -> Double)) -> String {
                "\(rounded(shares.map(part).sorted()[shares.count / 2] * 100)) %"
            }
            let more = shares.count { $0.smart > $0.center + 0.005 }
            let less = shares.count { $0.smart < $0.center - 0.005 }
            print(
                "| \(name) | \(shares.count) | \(median { $0.center }) | \(median { $0.smart }) | \(median { $0.best }) "
                    + "| \(more) | \(less) |")
        }
    }

    /// The place of a crop, which differs from the image in one direction only.
    private static func offset(of part: Image, in image: Image, _ ofWidth: Bool) -> Int? {
        let (length, kept) = ofWidth ? (image.size.width, part.size.width) : (image.size.height, part.size.height)
        return (0...(length - kept)).first { start in
            [0, kept / 3, kept / 2, kept - 1].allSatisfy { place in
                stride(from: 0, to: ofWidth ? image.size.height : image.size.width, by: 7).allSatisfy { across in
                    ofWidth
                        ? part.color(x: place, y: across) == image.color(x: start + place, y: across)
                        : part.color(x: across, y: place) == image.color(x: across, y: start + place)
                }
            }
        }
    }

    private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
