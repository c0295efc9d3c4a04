#if HTTP
import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

// snippet: custom-loader
struct ArchiveLoader: ImageStreaming {
    let archive: Archive
    let schemes = ["archive"]

    func stream(_ request: LoadRequest) async throws -> ImageStream {
        let file = try await archive.open(request.url.path)
        return ImageStream(url: request.url, expectedBytes: file.size, chunks: file.chunks)
    }
}
// snippet.end

// snippet: blob-loader
struct BlobLoader: ImageLoading {
    let database: Database
    let schemes = ["blob"]

    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        guard let data = await database.blob(request.url.lastPathComponent) else {
            throw ImageError(.init(rawValue: "blobMissing"), stage: .load, reason: "the database has no such image")
        }
        return LoadedData(data: data, url: request.url)
    }
}
// snippet.end

// snippet: pooled-loader
struct PooledLoader: ImageLoading {
    let connections: ConnectionPool
    let schemes = ["pooled"]

    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        let path = request.url.path
        let data = try await connections.withConnection { connection async throws(ImageError) in
            try await request.waitForRoom()
            return try await connection.bytes(path)
        }
        return LoadedData(data: data, url: request.url)
    }
}
// snippet.end

/// The only connection of the snippet, and those who wait for it.
actor ConnectionPool {
    private let connection: Connection
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    struct Connection: Sendable {
        var data: Data
        func bytes(_ path: String) async throws(ImageError) -> Data { data }
    }

    init(_ data: Data) { connection = Connection(data: data) }

    func withConnection(
        _ body: @Sendable (Connection) async throws(ImageError) -> Data
    ) async throws(ImageError) -> Data {
        if isTaken { await withCheckedContinuation { waiting.append($0) } }
        isTaken = true
        defer { giveBack() }
        return try await body(connection)
    }

    /// Gives the connection to the next, or frees it.
    private func giveBack() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
    }
}

/// The database of the snippet.
actor Database {
    private let blobs: [String: Data]
    init(_ blobs: [String: Data]) { self.blobs = blobs }
    func blob(_ name: String) -> Data? { blobs[name] }
}

/// The archive of the snippet: files in memory.
struct Archive: Sendable {
    var files: [String: Data]

    struct File {
        var size: Int
        var chunks: AsyncStream<Data>
    }

    struct Missing: Error {}

    func open(_ path: String) async throws -> File {
        guard let data = files[path] else { throw Missing() }
        let chunks = AsyncStream<Data> { continuation in
            for start in stride(from: 0, to: data.count, by: 100) {
                continuation.yield(data.dropFirst(start).prefix(100))
            }
            continuation.finish()
        }
        return File(size: data.count, chunks: chunks)
    }
}

@Suite("Snippets: the network", .timeLimited)
struct NetworkSnippets {
    @Test("A downloader repeats transfers, and tries mirrors")
    func failures() async throws {
        let server = try await OriginServer.start { $0.path == "/a" ? .status(404) : OriginResponse(Data("hi".utf8)) }
        // snippet: network-retry
        let downloader = ImageDownloader(
            .init(
                retry: RetryPolicy(maximumAttempts: 4, maximumRetryAfter: .seconds(20)),
                circuitBreaker: CircuitBreakerPolicy(failureThreshold: 10, pause: .seconds(30))))
        // snippet.end
        let mirror = server.url("/mirror")
        // snippet: network-mirrors
        let loader = downloader.withAlternatives { url in
            [mirror.appending(path: url.path)]
        }
        // snippet.end
        #expect(try await loader.load(LoadRequest(url: server.url("/a"))).url.path == "/mirror/a")
    }

    @Test("A loader of its own chunks is a few lines, and can be added to a manager in use", .capability("DLR-43"))
    func customLoader() async throws {
        let bench = try SnippetBench()
        let archive = Archive(files: ["/a.png": try bench.picture().encoded(as: .png)])
        let manager = ImageManager(cache: try bench.cache(), loader: FileLoader())
        let url = try #require(URL(string: "archive:/a.png"))
        await #expect(throws: ImageError.self) { try await manager.image(for: url) }
        manager.removeAllFailures()
        // snippet: custom-loader-added
        manager.loaders.add(ArchiveLoader(archive: archive))
        let image = try await manager.image(for: url)
        // snippet.end
        #expect(image.size.width > 0)
        manager.loaders.removeAll(of: ArchiveLoader.self)
        let error = await #expect(throws: ImageError.self) {
            try await manager.load(ImageRequest(url, cachePolicy: .reload))
        }
        #expect(error?.code == .invalidURL)
    }

    @Test("A loader names its schemes and returns bytes, and the rest has defaults", .capability("DLR-43", "PLG-04"))
    func blobs() async throws {
        let bench = try SnippetBench()
        let database = Database(["7": try bench.picture().encoded(as: .png)])
        let manager = ImageManager(cache: try bench.cache(), loader: FileLoader())
        // snippet: blob-loader-added
        manager.loaders.add(BlobLoader(database: database))
        let image = try await manager.image(for: ImageRequest(string: "blob:/photos/7"))
        // snippet.end
        #expect(image.size == PixelSize(width: 80, height: 60))
        let missing = try ImageRequest(string: "BLOB:/photos/8")
        let error = await #expect(throws: ImageError.self) { try await manager.image(for: missing) }
        #expect(error?.code.rawValue == "blobMissing" && error?.source?.hasSuffix("/photos/8") == true)
    }

    @Test("A loader that limits its transfers waits for the memory of others in its turn")
    func pooled() async throws {
        let bench = try SnippetBench()
        let pool = ConnectionPool(try bench.picture().encoded(as: .png))
        let manager = ImageManager(cache: try bench.cache(), loader: PooledLoader(connections: pool))
        let tasks = try (0..<5).map { manager.task(for: try ImageRequest(string: "pooled:/\($0)")) }
        for task in tasks { #expect(try await task.image.size == PixelSize(width: 80, height: 60)) }
    }

    @Test("A request brings its own hooks", .capability("CTX-23", "CTX-25"))
    func hooks() async throws {
        struct Album: Sendable {
            let id = 7
            func decrypt(_ data: Data) throws -> Data { Data(data.reversed()) }
        }
        let album = Album()
        let bench = try SnippetBench()
        let png = try bench.picture().encoded(as: .png)
        let server = try await OriginServer.start(["/a": OriginResponse(Data(png.reversed()))])
        let (manager, url) = (try bench.manager(), server.url("/a"))
        // snippet: request-hooks
        var request = ImageRequest(url)
        request.downloadHooks = DownloadHooks(
            identifier: "album \(album.id)",
            modifyRequest: { $0.headers["X-Album"] = "\(album.id)" },
            decrypt: { data, _ in try album.decrypt(data) })
        // snippet.end
        #expect(try await manager.copy(loader: ImageDownloader.shared).image(for: request).size.width > 0)
        #expect(server.requests.first?.header("X-Album") == "7")
    }

    @Test("A downloader is guarded")
    func guarding() async throws {
        let server = try await OriginServer.start { _ in .status(404) }
        // snippet: network-guard
        var configuration = ImageDownloader.Configuration.untrustedURLs
        configuration.networkGuard?.deniedHosts = ["*.internal.example.org"]
        let downloader = ImageDownloader(configuration)
        // snippet.end
        let error = await #expect(throws: ImageError.self) {
            try await downloader.load(LoadRequest(url: server.url("/a")))
        }
        #expect(error?.code == .loadingDisallowed)
    }

    @Test("A downloader answers challenges")
    func credentials() async throws {
        let server = try await OriginServer.start { _ in
            OriginResponse(status: 401, headers: ["WWW-Authenticate": "Basic"])
        }
        let password = "secret"
        // snippet: network-credentials
        let downloader = ImageDownloader(
            .init(
                cookies: SessionCookies(),
                credentials: { challenge in
                    guard challenge.url.host() == "images.example.org" else { return nil }
                    return .basic(user: "reader", password: password)
                }))
        // snippet.end
        await #expect(throws: ImageError.self) { try await downloader.load(LoadRequest(url: server.url("/a"))) }
        #expect(server.requestCount() == 1)
    }

    @Test("The activity of a downloader is shown")
    func activity() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(Data([1]))])
        // snippet: network-activity
        let activity = NetworkActivity { isActive in show(isActive) }
        let downloader = ImageDownloader(.init(observer: { event in activity.observe(event) }))
        // snippet.end
        #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == Data([1]))
    }

    @Test("A downloader has certificates and a proxy")
    func connection() throws {
        let folder = try TemporaryDirectory()
        let rootsFile = try folder.write(Data(), to: "roots.pem")
        // snippet: network-connection
        var tls = TLSOptions()
        tls.trustRoots = try Data(contentsOf: rootsFile)
        tls.insecureHosts = ["camera.local"]
        let downloader = ImageDownloader(.init(tls: tls, proxy: .environment))
        // snippet.end
        #expect(downloader.configuration.proxy == .environment)
    }
}
#endif
