public import FoundationEssentials
internal import Glibc

/// A new, empty folder that is removed with everything in it when nobody holds it any more.
public final class TemporaryDirectory: Sendable {
    public let path: String

    public var url: URL { URL(filePath: path, directoryHint: .isDirectory) }

    /// Makes a folder of a name that nobody else has, where the system keeps temporary files.
    /// - Throws: what the system says if that cannot be done.
    public init(prefix: String = "tintype") throws {
        let parent = FileManager.default.temporaryDirectory.path
        var template = Array("\(parent)/\(prefix)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CocoaError(.fileWriteUnknown)
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The URL of a file in the folder, whether or not there is one.
    public func url(of name: String) -> URL { url.appending(path: name, directoryHint: .notDirectory) }

    /// Writes a file, with the folders on the way to it.
    @discardableResult
    public func write(_ data: Data, to name: String) throws -> URL {
        let file = url(of: name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
        return file
    }
}
