public import FoundationEssentials
internal import Glibc

/// A new, empty directory that is removed with its contents when it is released.
public final class TemporaryDirectory: Sendable {
    /// The path of the directory.
    public let path: String

    /// The URL of the directory.
    public var url: URL { URL(filePath: path, directoryHint: .isDirectory) }

    /// Creates a directory with a unique name, where the system keeps temporary files.
    /// - Parameter prefix: the start of its name.
    /// - Throws: a `CocoaError` if the directory can't be created.
    public init(prefix: String = "tintype") throws {
        let parent = FileManager.default.temporaryDirectory.path
        var template = Array("\(parent)/\(prefix)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CocoaError(.fileWriteUnknown)
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Returns the URL of a file in the directory. The file need not exist.
    /// - Parameter name: the path of the file, relative to the directory.
    public func url(of name: String) -> URL { url.appending(path: name, directoryHint: .notDirectory) }

    /// Writes a file and creates the directories that it needs.
    /// - Parameters:
    ///   - data: the contents.
    ///   - name: the path of the file, relative to the directory.
    /// - Returns: the URL of the file.
    /// - Throws: the error of the file system.
    @discardableResult
    public func write(_ data: Data, to name: String) throws -> URL {
        let file = url(of: name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
        return file
    }
}
