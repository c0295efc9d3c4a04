#if HTTP
internal import FoundationEssentials
internal import Glibc
internal import TintypeLoading

extension OriginServer {
    /// Starts a server that serves all files in a directory and its subdirectories like a web server: with type, length, entity tag,
    /// modification time, and `304 Not Modified`.
    ///
    /// Files outside the directory aren't served, but every user of the computer can read all files in it. Serve only files that a test
    /// created, or use ``start(port:files:in:)``.
    /// - Parameters:
    ///   - port: the port; 0 for any free port.
    ///   - directory: the directory.
    /// - Returns: the running server.
    /// - Throws: the error of the system if the server can't listen.
    public static func start(port: Int = 0, directory: String) async throws -> OriginServer {
        let files = OriginFiles(root: directory)
        return try await start(port: port) { await files.response(to: $0) }
    }
}

/// The files of a directory, as answers to requests.
struct OriginFiles: Sendable {
    /// The directory without symbolic links; `nil` if there is none.
    private let root: String?

    init(root: String) { self.root = Self.resolved(root) }

    func response(to request: OriginRequest) async -> OriginResponse {
        guard request.method == "GET" || request.method == "HEAD" else { return .status(405) }
        let response = try? await WorkQueue.files.perform { _ in read(request) }
        return response ?? .status(503)
    }

    private func read(_ request: OriginRequest) -> OriginResponse {
        guard let root, let name = Self.path(of: request) else { return .status(404) }
        // The resolved path has no `..` and no links, so it is the true place of the file.
        guard let path = Self.resolved(root + name), path.hasPrefix(root == "/" ? "/" : root + "/") else {
            return .status(404)
        }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let data = try? Data(contentsOf: URL(filePath: path))
        else { return .status(404) }

        let tag =
            "\"\(String(status.st_size, radix: 16))-\(String(status.st_mtim.tv_sec, radix: 16))"
            + "-\(String(status.st_mtim.tv_nsec, radix: 16))\""
        let modified = Self.httpDate(status.st_mtim.tv_sec)
        let validators = ["ETag": tag, "Last-Modified": modified]
        if let known = request.header("If-None-Match") {
            if known == tag || known == "*" { return OriginResponse(status: 304, headers: validators) }
        } else if request.header("If-Modified-Since") == modified {
            return OriginResponse(status: 304, headers: validators)
        }
        return OriginResponse(data, type: Self.type(of: path), headers: validators)
    }

    /// The decoded path of a request; `nil` if it can't be a file.
    static func path(of request: OriginRequest) -> String? {
        guard let name = URL(string: "http://host\(request.path)")?.path(percentEncoded: false),
            name.hasPrefix("/"), !name.utf8.contains(0)
        else { return nil }
        return name
    }

    private static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Formats a time as in `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
    static func httpDate(_ seconds: Int) -> String {
        var seconds = time_t(seconds)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = "\(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(Int(parts.tm_year) + 1_900)"
        return
            "\(days[Int(parts.tm_wday)]), \(date) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
    }

    /// The media type of a file, by its extension.
    static func type(of path: String) -> String {
        let suffix = path.split(separator: "/").last?.split(separator: ".").last.map { $0.lowercased() } ?? ""
        return switch suffix {
        case "jpg", "jpeg", "jpe": "image/jpeg"
        case "png", "apng": "image/png"
        case "gif": "image/gif"
        case "webp": "image/webp"
        case "avif": "image/avif"
        case "heic": "image/heic"
        case "heif": "image/heif"
        case "jxl": "image/jxl"
        case "svg": "image/svg+xml"
        case "tif", "tiff": "image/tiff"
        case "bmp": "image/bmp"
        case "ico": "image/x-icon"
        case "pdf": "application/pdf"
        case "html", "htm": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "json": "application/json"
        case "txt", "md": "text/plain; charset=utf-8"
        default: "application/octet-stream"
        }
    }
}
#endif
