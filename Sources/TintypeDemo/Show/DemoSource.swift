#if HTTP
internal import CommandSupport
internal import FoundationEssentials
internal import Glibc
internal import Tintype
internal import TintypeTesting

/// The images that a demo shows, and the server that serves them.
struct DemoSource: Sendable {
    struct Item: Sendable {
        var name: String
        var url: URL
    }

    var title: String
    var items: [Item]
    /// Messages to show before the demo starts.
    var notes: [String] = []
    /// The server of the images; `nil` if they come from the web.
    var server: OriginServer?
    /// The directory of drawn samples; `nil` for other images.
    var directory: TemporaryDirectory?

    /// Draws samples in every format and serves them.
    static func samples() async throws -> DemoSource {
        let directory = try TemporaryDirectory(prefix: "tintype-samples")
        let samples = try await WorkQueue.processing.perform { _ throws(ImageError) in try SampleImages.all() }
        for sample in samples { try directory.write(sample.data, to: sample.name) }
        let (server, items) = try await serve(samples.map(\.name), in: directory.path)
        return DemoSource(
            title: "Tintype", items: items,
            notes: ["drew \(counted(samples.count, "sample image"))"], server: server, directory: directory)
    }

    /// Serves the images in a directory and its subdirectories.
    static func folder(_ path: String) async throws -> DemoSource {
        let found = try await WorkQueue.files.perform { isCancelled throws(ImageError) in
            var search = ImageSearch(root: path, isCancelled: isCancelled)
            try search.run()
            return search
        }
        let (server, items) = try await serve(found.images, in: path)
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return DemoSource(
            title: name, items: items,
            notes: ["found \(counted(found.images.count, "image")) in \(path)"] + found.remarks, server: server)
    }

    /// Returns the images at URLs.
    static func web(_ urls: [String]) throws(ImageError) -> DemoSource {
        var items: [Item] = []
        for text in urls {
            guard let url = URL(written: text) else {
                throw ImageError(.invalidURL, stage: .request, source: ShownURL.text(text), reason: "it isn't a URL")
            }
            items.append(Item(name: FileName(url: text).name(), url: url))
        }
        return DemoSource(title: "Tintype", items: items)
    }

    /// Serves exactly the given files. A secret in the paths keeps them from other users of the computer, because they may not be allowed
    /// to read the files.
    private static func serve(_ names: [String], in directory: String) async throws -> (OriginServer, [Item]) {
        let secret =
            String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt64.random(in: .min ... .max), radix: 36)
        let files = Dictionary(uniqueKeysWithValues: names.map { ("/\(secret)/\($0)", $0) })
        let server = try await OriginServer.start(files: files, in: directory)
        return (server, names.map { Item(name: $0, url: server.url("/\(secret)/" + encoded($0))) })
    }

    /// Returns a path with percent escapes (RFC 3986, section 3.3).
    static func encoded(_ path: String) -> String {
        let digits = Array("0123456789ABCDEF")
        return path.utf8.reduce(into: "") { result, byte in
            let scalar = Unicode.Scalar(byte)
            let character = Character(scalar)
            if scalar.isASCII, character.isLetter || character.isNumber || "-._~/".contains(character) {
                result.append(character)
            } else {
                result += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
    }
}

/// A search for images in a directory and its subdirectories, by the contents of files rather than their names.
struct ImageSearch {
    /// The paths of the images relative to the root, in order.
    private(set) var images: [String] = []
    /// The number of files in each format that this build does not read.
    private var unreadable: [ImageFormat: Int] = [:]
    private var others = 0
    private var links = 0

    private let root: String
    private let isCancelled: @Sendable () -> Bool

    init(root: String, isCancelled: @escaping @Sendable () -> Bool = { false }) {
        self.root = root
        self.isCancelled = isCancelled
    }

    mutating func run() throws(ImageError) {
        guard (try? FileManager.default.contentsOfDirectory(atPath: root)) != nil else {
            throw ImageError(.fileUnreadable, stage: .load, source: root, reason: "the directory can't be read")
        }
        visit("")
        images.sort()
    }

    /// Messages about files that were skipped.
    var remarks: [String] {
        var remarks: [String] = []
        for (format, count) in unreadable.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let advice = format.trait.map { "the package trait \($0) may add it" } ?? "no coder reads it"
            remarks.append("skipped \(counted(count, "\(format) file")): \(advice)")
        }
        if others > 0 {
            remarks.append("skipped \(counted(others, "file")) that \(others == 1 ? "is" : "are") not an image")
        }
        if links > 0 { remarks.append("skipped \(counted(links, "symbolic link"))") }
        return remarks
    }

    private mutating func visit(_ folder: String) {
        guard !isCancelled(), let names = try? FileManager.default.contentsOfDirectory(atPath: "\(root)/\(folder)")
        else { return }
        for name in names {
            let path = folder.isEmpty ? name : "\(folder)/\(name)"
            var status = stat()
            guard lstat("\(root)/\(path)", &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: visit(path)
            case S_IFLNK: links += 1  // It may lead out of the directory, or in a circle.
            case S_IFREG: look(at: path)
            default: others += 1
            }
        }
    }

    private mutating func look(at path: String) {
        guard var file = try? InputFile("\(root)/\(path)"), (try? file.read(upTo: ImageFormat.sniffedBytes)) != nil,
            let format = ImageFormat(sniffing: file.data)
        else {
            others += 1
            return
        }
        if ImageCoders.default.decodableFormats.contains(format) {
            images.append(path)
        } else {
            unreadable[format, default: 0] += 1
        }
    }
}
#endif
