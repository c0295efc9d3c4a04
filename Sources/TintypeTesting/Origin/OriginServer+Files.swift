#if HTTP
internal import FoundationEssentials
internal import Glibc
internal import TintypeLoading

extension OriginServer {
    /// Starts a server that serves exactly the listed files of a directory.
    ///
    /// Every other path is answered with 404. So is a file behind a symbolic link in the directory, even if it wasn't a link when the list
    /// was made.
    /// - Parameters:
    ///   - port: the port; 0 for any free port.
    ///   - files: paths of files, relative to the directory, keyed by URL path. A URL path starts with a slash and isn't percent encoded.
    ///   - directory: the directory.
    /// - Returns: the running server.
    /// - Throws: the error of the system if the server can't listen.
    public static func start(
        port: Int = 0, files: [String: String], in directory: String
    ) async throws -> OriginServer {
        try await start(port: port) { request in
            guard request.method == "GET" || request.method == "HEAD" else { return .status(405) }
            guard let name = OriginFiles.path(of: request), let file = files[name] else { return .status(404) }
            let response = try? await WorkQueue.files.perform { _ in
                ListedFile(file, in: directory).map { OriginResponse($0.data, type: OriginFiles.type(of: file)) }
            }
            return response ?? .status(404)
        }
    }
}

/// A regular file that is opened without following symbolic links below its directory.
private struct ListedFile {
    let data: Data

    init?(_ path: String, in directory: String) {
        var descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        let names = path.split(separator: "/").map(String.init)
        guard descriptor >= 0, !names.isEmpty, !names.contains(".."), !names.contains(".") else {
            if descriptor >= 0 { close(descriptor) }
            return nil
        }
        defer { close(descriptor) }
        for (index, name) in names.enumerated() {
            let kind = index < names.count - 1 ? O_DIRECTORY : O_NONBLOCK
            let next = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | kind)
            guard next >= 0 else { return nil }
            close(descriptor)
            descriptor = next
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        var data = Data(capacity: Int(status.st_size))
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &block, block.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { break }
            data.append(contentsOf: block[..<count])
        }
        self.data = data
    }
}
#endif
