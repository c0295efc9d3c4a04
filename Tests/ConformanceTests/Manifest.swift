import Foundation
import Testing
import Tintype

/// One file of the corpora and what is expected of it.
struct CorpusFile: Sendable, CustomTestStringConvertible {
    /// The column names of the manifest, and this file's values.
    let columns: [String: String]
    let folder: URL

    subscript(_ column: String) -> String { columns[column] ?? "" }

    var path: String { self["path"] }
    var expectation: String { self["expect"] }
    var testDescription: String { path }

    func number(_ column: String) -> Int? { Int(self[column]) }

    func data(_ path: String? = nil) throws -> Data {
        try Data(contentsOf: folder.appendingPathComponent(path ?? self.path))
    }

    var storedSize: PixelSize? {
        guard let width = number("width"), let height = number("height") else { return nil }
        return PixelSize(width: width, height: height)
    }

    var displaySize: PixelSize? {
        guard let width = number("display_width"), let height = number("display_height") else { return nil }
        return PixelSize(width: width, height: height)
    }
}

/// The corpora that the environment variable `TINTYPE_CORPORA` points to: a folder with a `MANIFEST.tsv`.
enum Corpora {
    static let folder: URL? = ProcessInfo.processInfo.environment["TINTYPE_CORPORA"].map(URL.init(fileURLWithPath:))

    static let files: [CorpusFile] = {
        guard let folder,
            let text = try? String(contentsOf: folder.appendingPathComponent("MANIFEST.tsv"), encoding: .utf8)
        else { return [] }
        let rows = text.split(separator: "\n").map { $0.components(separatedBy: "\t") }
        guard let names = rows.first else { return [] }
        return rows.dropFirst().map { row in
            CorpusFile(columns: Dictionary(zip(names, row), uniquingKeysWith: { $1 }), folder: folder)
        }
    }()

    static func files(_ formats: String...) -> [CorpusFile] { files.filter { formats.contains($0["format"]) } }

    /// The photographs and animations, which have a manifest of their own.
    static let photos: [URL] = {
        guard let folder = folder?.appendingPathComponent("photos"),
            let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        else { return [] }
        return names.filter { !$0.hasSuffix(".tsv") }.sorted().map(folder.appendingPathComponent)
    }()
}
