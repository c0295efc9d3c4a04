#if GTK
import Foundation
import Tintype
import TintypeTesting

/// The command line of the gallery.
struct GalleryArguments {
    static let help = """
        Usage: gallery [OPTIONS] [FOLDER|FILE|URL|LIST.txt…]
          FOLDER       the images in a folder and the folders in it; without any, the window asks for one
          LIST.txt     a file with one URL or path in each line
          --samples    pictures that are drawn for the purpose
          --widgets    the widgets of the library instead of a grid
          --dark       in dark colors
          --open NUMBER
                       opens the image with a number, from 1
          --walk       shows each image in turn, twice, prints what came of it, and quits
          --screenshot FILE
                       writes the window to a PNG or WebP file once what is visible has loaded, and quits
          --size WxH   the size of the window
          --draw COUNT draws images into the folder that follows, as far as it has fewer
          --measure window|pictures|gallery
                       prints the time to the first screen, and the frames of scrolling through all images; of a window
                       without anything, of a grid that loads nothing, or of the gallery
          --first      with --measure, quits after the first screen

        """

    var urls: [URL] = []
    /// The reasons for which nothing is shown of some arguments.
    var problems: [String] = []
    /// The name of what is shown; `nil` for a mixture.
    var title: String?
    var screenshot: String?
    var size = PixelSize(width: 1_000, height: 700)
    var opens: Int?
    var isDark = false
    var walks = false
    var showsWidgets = false
    var measures: Measurement.Subject?
    /// True to measure nothing but the first screen.
    var isFirstScreenOnly = false

    /// The error of a command line that is wrong.
    struct UsageError: Error {
        var reason: String
    }

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        var count: Int?
        var sources: [String] = []
        func value<Value>(_ option: String, _ read: (String) -> Value?) throws -> Value {
            guard let text = rest.popFirst(), let value = read(text) else {
                throw UsageError(reason: "\(option) needs another value.")
            }
            return value
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--screenshot": screenshot = try value(argument) { $0 }
            case "--size":
                let sides = try value(argument) { $0.split(separator: "x").compactMap { Int($0) } }
                guard sides.count == 2, sides.allSatisfy({ (100...10_000).contains($0) }) else {
                    throw UsageError(reason: "--size needs two numbers from 100 to 10000, such as 1000x700.")
                }
                size = PixelSize(width: sides[0], height: sides[1])
            case "--measure": measures = try value(argument) { Measurement.Subject(rawValue: $0) }
            case "--first": isFirstScreenOnly = true
            case "--dark": isDark = true
            case "--walk": walks = true
            case "--widgets": showsWidgets = true
            case "--open": opens = try value(argument) { Int($0).flatMap { $0 > 0 ? $0 : nil } }
            case "--draw": count = try value(argument) { Int($0).flatMap { (1...100_000).contains($0) ? $0 : nil } }
            case "--samples": urls += Self.samples()
            case let option where option.hasPrefix("--"): throw UsageError(reason: "\(option) is unknown.")
            default:
                if let count {
                    do { try SampleFolder.fill(argument, count: count) } catch {
                        problems.append("\(argument): \(error)")
                    }
                }
                sources.append(argument)
            }
        }
        add(sources)
    }

    /// These arguments with other images. Folders are searched on another thread; a search ends when its task is canceled.
    @concurrent func opening(_ sources: [String]) async -> GalleryArguments {
        var arguments = self
        (arguments.urls, arguments.problems) = ([], [])
        arguments.add(sources)
        return arguments
    }

    /// Adds the images of folders, files, and addresses.
    private mutating func add(_ sources: [String]) {
        for source in sources {
            let found = Self.urls(source)
            if found.isEmpty {
                let isThere = FileManager.default.fileExists(atPath: source)
                problems.append(isThere ? "There are no images in “\(source)”." : "“\(source)” doesn’t exist.")
            }
            urls += found
        }
        title = sources.count == 1 ? sources[0].split(separator: "/").last.map { String($0) } : nil
    }

    /// The names of files that are shown: those of the formats of the package.
    private static let extensions: Set<String> = [
        "jpg", "jpeg", "jpe", "jfif", "png", "apng", "gif", "webp", "bmp", "ico", "cur", "avif", "avifs", "heic",
        "heics", "heif", "jxl", "tif", "tiff", "svg", "svgz", "pdf", "dng", "cr2", "cr3", "nef", "arw", "raf", "orf",
        "rw2", "pef",
    ]

    /// Pictures in all formats that need no trait, drawn into the folder of temporary files.
    private static func samples() -> [URL] {
        guard let folder = try? TemporaryDirectory(prefix: "gallery"), let images = try? SampleImages.all(scale: 0.25)
        else { return [] }
        // The folder lives as long as the program.
        _ = Unmanaged.passRetained(folder)
        return images.compactMap { try? folder.write($0.data, to: $0.name) }
    }

    /// The images in a folder and the folders in it, without hidden ones.
    private static func images(in folder: String) -> [URL] {
        let files = FileManager.default.enumerator(
            at: ImageRequest(path: folder).url, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
        var found: [URL] = []
        while !Task.isCancelled, let file = files?.nextObject() as? URL {
            if extensions.contains(file.pathExtension.lowercased()) { found.append(file.absoluteURL) }
        }
        return found.sorted { $0.path < $1.path }
    }

    /// - Parameter isInList: true for a line of a list, which may not name another list: it could be itself.
    private static func urls(_ argument: String, isInList: Bool = false) -> [URL] {
        if let url = (try? ImageRequest(string: argument))?.url, let scheme = url.scheme?.lowercased(),
            ["http", "https", "file", "data"].contains(scheme)
        {
            return [url]
        }
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: argument, isDirectory: &isDirectory) else { return [] }
        if isDirectory.boolValue { return images(in: argument) }
        if argument.hasSuffix(".txt"), !isInList, let text = try? String(contentsOfFile: argument, encoding: .utf8) {
            return text.split(whereSeparator: \.isNewline).flatMap { urls(String($0), isInList: true) }
        }
        return [ImageRequest(path: argument).url]
    }
}
#endif
