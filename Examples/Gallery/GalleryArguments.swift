#if GTK
import Foundation
import Tintype
import TintypeTesting

/// The command line of the gallery.
struct GalleryArguments {
    static let help = """
        Usage: gallery [--screenshot FILE] [--size WxH] [--draw COUNT] [--measure SUBJECT [--first]] FOLDER|FILE|URL|LIST.txt…|--samples
          FOLDER       the images in a folder and the folders in it
          LIST.txt     a file with one URL or path in each line
          --samples    pictures that are drawn for the purpose
          --screenshot writes the window to a PNG or WebP file once what is visible has loaded, and quits
          --draw COUNT draws images into the folder that follows, as far as it has fewer
          --measure window|pictures|gallery
                       prints the time to the first screen, and the frames of scrolling through all images; of a window
                       without anything, of a grid that loads nothing, or of the gallery
          --first      with --measure, quits after the first screen

        """

    var urls: [URL] = []
    var screenshot: String?
    var size = PixelSize(width: 1_000, height: 700)
    var measures: Measurement.Subject?
    /// True to measure nothing but the first screen.
    var isFirstScreenOnly = false

    /// - Returns: `nil` if the arguments are wrong.
    init?(_ arguments: [String]) {
        var rest = arguments[...]
        var count: Int?
        while let argument = rest.popFirst() {
            switch argument {
            case "--screenshot":
                guard let file = rest.popFirst() else { return nil }
                screenshot = file
            case "--size":
                let sides = rest.popFirst()?.split(separator: "x").compactMap { Int($0) } ?? []
                guard sides.count == 2, sides.allSatisfy({ (100...10_000).contains($0) }) else { return nil }
                size = PixelSize(width: sides[0], height: sides[1])
            case "--measure":
                guard let subject = rest.popFirst().flatMap(Measurement.Subject.init) else { return nil }
                measures = subject
            case "--first": isFirstScreenOnly = true
            case "--draw":
                guard let number = rest.popFirst().flatMap({ Int($0) }), (1...100_000).contains(number) else {
                    return nil
                }
                count = number
            case "--samples": urls += Self.samples()
            case let option where option.hasPrefix("--"): return nil
            default:
                if let count {
                    do { try SampleFolder.fill(argument, count: count) } catch { print("\(argument): \(error)") }
                }
                urls += Self.urls(argument)
            }
        }
        if urls.isEmpty, measures != .window { return nil }
    }

    private static let extensions: Set<String> = [
        "jpg", "jpeg", "png", "apng", "gif", "webp", "bmp", "ico", "avif", "heic", "heif", "jxl", "tif", "tiff", "svg",
        "pdf", "dng",
    ]

    /// Pictures in all formats that need no trait, drawn into the folder of temporary files.
    private static func samples() -> [URL] {
        guard let folder = try? TemporaryDirectory(prefix: "gallery"), let images = try? SampleImages.all(scale: 0.25)
        else { return [] }
        // The folder lives as long as the program.
        _ = Unmanaged.passRetained(folder)
        return images.compactMap { try? folder.write($0.data, to: $0.name) }
    }

    /// - Parameter isInList: true for a line of a list, which may not name another list: it could be itself.
    private static func urls(_ argument: String, isInList: Bool = false) -> [URL] {
        if let url = URL(string: argument), let scheme = url.scheme, ["http", "https", "file", "data"].contains(scheme)
        {
            return [url]
        }
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: argument, isDirectory: &isDirectory) else { return [] }
        if isDirectory.boolValue {
            let names = (try? FileManager.default.subpathsOfDirectory(atPath: argument)) ?? []
            return names.filter { extensions.contains($0.split(separator: ".").last?.lowercased() ?? "") }.sorted()
                .map { ImageRequest(path: "\(argument)/\($0)").url }
        }
        if argument.hasSuffix(".txt"), !isInList, let text = try? String(contentsOfFile: argument, encoding: .utf8) {
            return text.split(whereSeparator: \.isNewline).flatMap { urls(String($0), isInList: true) }
        }
        return [ImageRequest(path: argument).url]
    }
}
#endif
