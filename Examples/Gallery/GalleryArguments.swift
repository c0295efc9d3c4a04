#if GTK
import Foundation
import Tintype
import TintypeTesting

/// The command line of the gallery.
struct GalleryArguments {
    static let help = """
        Usage: gallery [--screenshot FILE] [--size WxH] FOLDER|FILE|URL|LIST.txt…|--samples
          FOLDER       the images in a folder and the folders in it
          LIST.txt     a file with one URL or path in each line
          --samples    pictures that are drawn for the purpose
          --screenshot writes the window to a PNG or WebP file once what is visible has loaded, and quits

        """

    var urls: [URL] = []
    var screenshot: String?
    var size = PixelSize(width: 1_000, height: 700)

    /// - Returns: `nil` if the arguments are wrong.
    init?(_ arguments: [String]) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--screenshot":
                guard let file = rest.popFirst() else { return nil }
                screenshot = file
            case "--size":
                let sides = rest.popFirst()?.split(separator: "x").compactMap { Int($0) } ?? []
                guard sides.count == 2, sides.allSatisfy({ (100...10_000).contains($0) }) else { return nil }
                size = PixelSize(width: sides[0], height: sides[1])
            case "--samples": urls += Self.samples()
            case let option where option.hasPrefix("--"): return nil
            default: urls += Self.urls(argument)
            }
        }
        if urls.isEmpty { return nil }
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
            let names = FileManager.default.enumerator(atPath: argument)?.compactMap { $0 as? String } ?? []
            return names.filter { extensions.contains(($0 as NSString).pathExtension.lowercased()) }.sorted()
                .map { ImageRequest(path: "\(argument)/\($0)").url }
        }
        if argument.hasSuffix(".txt"), !isInList, let text = try? String(contentsOfFile: argument, encoding: .utf8) {
            return text.split(whereSeparator: \.isNewline).flatMap { urls(String($0), isInList: true) }
        }
        return [ImageRequest(path: argument).url]
    }
}
#endif
