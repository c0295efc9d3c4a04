#if HTTP
internal import FoundationEssentials
internal import Glibc
internal import Tintype
internal import TintypeTesting

/// The images that a demo shows: where they come from, and the server that has them.
struct DemoSource: Sendable {
    struct Item: Sendable {
        var name: String
        var url: URL
    }

    var title: String
    var items: [Item]
    /// What a person should know of it before it begins.
    var notes: [String] = []
    /// Serves the images, unless they come from elsewhere.
    var server: OriginServer?
    /// Holds the drawn samples for as long as they are served.
    var directory: TemporaryDirectory?

    /// Samples in every format, drawn now.
    static func samples() async throws -> DemoSource {
        let directory = try TemporaryDirectory(prefix: "tintype-samples")
        let samples = try await WorkQueue.processing.perform { _ throws(ImageError) in try SampleImages.all() }
        for sample in samples { try directory.write(sample.data, to: sample.name) }
        let server = try await OriginServer.start(directory: directory.path)
        return DemoSource(
            title: "Tintype", items: samples.map { Item(name: $0.name, url: server.url("/" + encoded($0.name))) },
            notes: ["drew \(counted(samples.count, "sample image"))"], server: server, directory: directory)
    }

    /// The images in a folder and the folders in it.
    static func folder(_ path: String) async throws -> DemoSource {
        let found = try await WorkQueue.files.perform { isCancelled throws(ImageError) in
            var search = ImageSearch(root: path, isCancelled: isCancelled)
            try search.run()
            return search
        }
        let server = try await OriginServer.start(directory: path)
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return DemoSource(
            title: name, items: found.images.map { Item(name: $0, url: server.url("/" + encoded($0))) },
            notes: ["found \(counted(found.images.count, "image")) in \(path)"] + found.remarks, server: server)
    }

    /// Images of the web.
    static func web(_ urls: [String]) throws(ImageError) -> DemoSource {
        var items: [Item] = []
        for text in urls {
            guard let url = URL(string: text) else {
                throw ImageError(.invalidURL, stage: .request, source: text, reason: "is no URL")
            }
            items.append(Item(name: FileName(url: text).name(), url: url))
        }
        return DemoSource(title: "Tintype", items: items)
    }

    /// A path as a URL has it (RFC 3986, section 3.3).
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

/// Looks for images in a folder and the folders in it, by what is in the files rather than by their names.
struct ImageSearch {
    /// The paths of the images from the root, in order.
    private(set) var images: [String] = []
    /// How many files are of a format that this build does not read.
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
            throw ImageError(.fileUnreadable, stage: .load, source: root, reason: "the folder cannot be read")
        }
        visit("")
        images.sort()
    }

    /// What was passed over.
    var remarks: [String] {
        var remarks: [String] = []
        for (format, count) in unreadable.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let advice = format.trait.map { "the package trait \($0) may bring it" } ?? "no coder reads it"
            remarks.append("passed over \(counted(count, "\(format) file")): \(advice)")
        }
        if others > 0 {
            remarks.append("passed over \(counted(others, "file")) that \(others == 1 ? "is" : "are") no image")
        }
        if links > 0 { remarks.append("passed over \(counted(links, "symbolic link"))") }
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
            case S_IFLNK: links += 1  // May lead out of the folder, or around in circles.
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
