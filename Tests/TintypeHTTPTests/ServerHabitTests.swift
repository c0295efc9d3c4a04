#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeTesting

@testable import TintypeHTTP

/// What servers do that is unusual, but no reason to refuse an image; and what is one.
@Suite("Habits of servers", .timeLimited)
struct ServerHabitTests {
    private let downloader = ImageDownloader()

    @Test(
        "A content encoding that is no coding doesn't refuse an image", .capability("DLR-30"),
        arguments: [
            "none", "None", "null", "binary", "aws-chunked", "utf-8", "UTF-8", "identity", "8bit", "iso-8859-1",
            "image/png", ",",
            "aws-chunked,gzip", "gzip, none",
        ])
    func plainEncoding(_ name: String) async throws {
        let body = name.contains("gzip") ? try gzip(bytes) : bytes
        let server = try await OriginServer.start { _ in OriginResponse(body, headers: ["Content-Encoding": name]) }
        #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == bytes)
    }

    @Test(
        "A registered coding that can't be decoded is an error",
        arguments: ["compress", "dcb", "none, exi", "X-Compress"])
    func unknownEncoding(_ name: String) async throws {
        let server = try await OriginServer.start { _ in OriginResponse(bytes, headers: ["Content-Encoding": name]) }
        #expect(try await failure(downloader, LoadRequest(url: server.url("/a"))).code == .badResponse)
    }

    @Test("A stream of images, which may never end, is refused at its head", .capability("3.20"))
    func streamOfImages() async throws {
        let type = "multipart/x-mixed-replace; boundary=frame"
        let server = try await OriginServer.start { _ in OriginResponse(bytes, type: type).silence(after: 100) }
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect(error.code == .badContentType && error.reason.contains("stream of images"))
    }

    @Test("Servers that choose a format learn which ones this build decodes", .capability("DLR-02"))
    func accept() async throws {
        let server = try await OriginServer.start { _ in OriginResponse(bytes) }
        _ = try await downloader.load(LoadRequest(url: server.url("/a")))
        let types = try #require(server.requests[0].header("Accept")).split(separator: ",").map(String.init)
        #expect(types.suffix(2) == ["image/*;q=0.8", "*/*;q=0.5"])
        #expect(Set(types).isSuperset(of: ["image/webp", "image/png", "image/jpeg", "image/gif"]))
        #if AVIF
        #expect(types[0] == "image/avif")
        #else
        #expect(!types.contains("image/avif"))
        #endif
        #if SVG
        #expect(types.contains("image/svg+xml"))
        #else
        #expect(!types.contains("image/svg+xml"))
        #endif
    }

    @Test("The answer tells the fields that were sent and that the caches don't know", .capability("HTC-04"))
    func sentFields() async throws {
        let server = try await OriginServer.start { request in
            switch request.path {
            case "/login" where request.header("Authorization") == nil:
                OriginResponse(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"a\""])
            case "/from": .redirect(to: "/a")
            default: OriginResponse(bytes, headers: ["Set-Cookie": "id=1"])
            }
        }
        let request = LoadRequest(url: server.url("/a"), headers: ["X-Own": "1"])
        let cookies = ImageDownloader(.init(cookies: SessionCookies()))
        #expect(try await cookies.load(request).sentFields == ["cookie": ""])
        #expect(cookies.cookies(for: request.url) == "id=1")
        #expect(try await cookies.load(request).sentFields == ["cookie": "id=1"])
        let modified = ImageDownloader(
            .init(requestModifier: {
                $0.headers["X-Late"] = "2"
                $0.headers["X-Own"] = nil
                $0.url.append(queryItems: [URLQueryItem(name: "signature", value: "1")])
            }))
        #expect(try await modified.load(request).sentFields == ["x-late": "2", "x-own": ""])
        #expect(try await modified.load(LoadRequest(url: server.url("/from"))).sentFields == ["x-late": "2"])
        let signedIn = ImageDownloader(.init(credentials: { _ in .basic(user: "anna", password: "x") }))
        let answer = try await signedIn.load(LoadRequest(url: server.url("/login")))
        #expect(Array(answer.sentFields.keys) == ["authorization"])
        // The caches know the fields of the request, of its URL, of the configuration, and of the provider.
        let personal = server.url("/a", user: "me:secret")
        #expect(try await downloader.load(LoadRequest(url: personal)).sentFields == [:])
        #expect(downloader.requestHeaders([:], for: personal)["Authorization"] == "Basic bWU6c2VjcmV0")
        #expect(downloader.requestHeaders(["authorization": "own"], for: personal)["authorization"] == "own")
        let known = ImageDownloader(.init(headers: ["X-Late": "1"], headerProvider: { url, fields in fields }))
        #expect(try await known.load(request).sentFields == [:])
        #expect(try await downloader.load(request).sentFields == [:])
    }

    @Test(
        "The fields that were sent to any URL count, and those that a redirect doesn't take along are known",
        .capability("HTC-04"))
    func sentFieldsElsewhere() async throws {
        /// Cookies for every URL of a server but one.
        struct Cookies: CookieStoring {
            let port: Int
            func cookies(for url: URL) -> String? { url.port == port && url.path() != "/a" ? "id=1" : nil }
            func store(_ fields: [String], from url: URL) {}
        }
        let other = try await OriginServer.start { _ in OriginResponse(bytes) }
        let target = other.url("/b").absoluteString
        let server = try await OriginServer.start { request in
            switch request.path {
            case "/other": .redirect(to: target)
            case "/same": .redirect(to: "/a")
            default: OriginResponse(bytes)
            }
        }
        let port = server.port
        let downloader = ImageDownloader(
            .init(
                headerProvider: { url, fields in
                    var fields = fields
                    if url.port != port { fields["X-Other"] = "4" }
                    if url.port == port, url.path() != "/a" { fields["X-Token"] = "3" }
                    return fields
                }, cookies: Cookies(port: port)))
        let fields = ["Authorization": "Bearer 1", "X-Key": "2"]
        let elsewhere = try await downloader.load(LoadRequest(url: server.url("/other"), headers: fields))
        #expect(elsewhere.sentFields == ["cookie": "id=1", "x-other": "4"])
        let same = try await downloader.load(LoadRequest(url: server.url("/same"), headers: fields))
        #expect(same.sentFields == ["cookie": "id=1"])
        #expect(other.requests.first?.header("Authorization") == nil)
    }

    @Test("A redirect to another origin doesn't hide who has signed in before", .capability("HTC-04"))
    func signInBeforeRedirect() async throws {
        let other = try await OriginServer.start { _ in OriginResponse(bytes) }
        let target = other.url("/anna").absoluteString
        let server = try await OriginServer.start { request in
            request.header("Authorization") == nil
                ? OriginResponse(status: 401, headers: ["WWW-Authenticate": "Bearer"]) : .redirect(to: target)
        }
        let downloader = ImageDownloader(.init(credentials: { _ in .bearer(token: "anna") }))
        let loaded = try await downloader.load(LoadRequest(url: server.url("/a")))
        #expect(loaded.sentFields["authorization"] == "Bearer anna")
        #expect(other.requests.first?.header("Authorization") == nil)
    }

    @Test("Who signed in at any URL of a chain of redirects is known at its end", .capability("HTC-04"))
    func signInAlongRedirects() async throws {
        let server = try await OriginServer.start { request in
            let port = request.header("Host")?.split(separator: ":").last.map(String.init) ?? ""
            switch request.path {
            case "/away": return .redirect(to: "http://localhost:\(port)/back")
            case "/middle": return .redirect(to: "http://localhost:\(port)/login")
            case "/login" where request.header("Authorization") == nil:
                return OriginResponse(status: 401, headers: ["WWW-Authenticate": "Bearer"])
            case "/back", "/login": return .redirect(to: "http://127.0.0.1:\(port)/a")
            default: return OriginResponse(bytes)
            }
        }
        let signing = ImageDownloader(.init(requestModifier: { $0.headers["Authorization"] = "Bearer anna" }))
        let back = try await signing.load(LoadRequest(url: server.url("/away")))
        #expect(back.sentFields == ["authorization": "Bearer anna"])
        #expect(server.requests.last?.header("Authorization") == nil)
        let asked = ImageDownloader(.init(credentials: { _ in .bearer(token: "anna") }))
        let middle = try await asked.load(LoadRequest(url: server.url("/middle")))
        #expect(middle.sentFields == ["authorization": "Bearer anna"])
        #expect(server.requests.last?.header("Authorization") == nil)
    }

    @Test("The answer that nothing has changed tells them, too", .capability("HTC-04"))
    func sentFieldsOfNotModified() async throws {
        let server = try await OriginServer.start { _ in OriginResponse(status: 304) }
        var request = LoadRequest(url: server.url("/a"))
        request.validators = CacheValidators(entityTag: "\"1\"")
        let modified = ImageDownloader(.init(requestModifier: { $0.headers["X-Late"] = "2" }))
        let answer = try await modified.load(request)
        #expect(answer.isNotModified && answer.sentFields == ["x-late": "2"])
    }

    @Test("The time of a request is that of the system's clock", .capability("DLR-34"))
    func start() async throws {
        let server = try await OriginServer.start { $0.path == "/to" ? .redirect(to: "/a") : OriginResponse(bytes) }
        let before = Date()
        let loaded = try await downloader.load(LoadRequest(url: server.url("/to")))
        let start = try #require(loaded.transfer?.start)
        #expect(start >= before && start <= Date())
    }

    @Test("Base64 with line breaks and other characters is decrypted by one line", .capability("DLR-08"))
    func base64() async throws {
        let text = bytes.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        let server = try await OriginServer.start { _ in OriginResponse(Data((text + " \r\n").utf8)) }
        let decrypting = ImageDownloader(
            .init(decryptor: { data, _ in Data(base64Encoded: data, options: .ignoreUnknownCharacters) ?? Data() }))
        #expect(try await decrypting.load(LoadRequest(url: server.url("/a"))).data == bytes)
    }

    @Test("One slow host leaves half of the slots to others", .capability("3.10", "DLC-01"))
    func slowHost() async throws {
        let gate = OriginGate()
        let slow = try await OriginServer.start { _ in OriginResponse(chunks: [bytes], gate: gate) }
        let quick = try await OriginServer.start { _ in OriginResponse(bytes) }
        let downloader = ImageDownloader(
            .init(maximumConcurrentDownloads: 6, timeout: .seconds(600), minimumSpeed: nil))
        let tasks = (0..<10).map { number in
            Task { [url = slow.url("/\(number)")] in try await downloader.load(LoadRequest(url: url)) }
        }
        try await slow.waitForRequests(6)
        while downloader.statistics.waiting < 4 { await Task.yield() }
        for number in 0..<20 {
            let url = quick.url("/\(number)", host: "localhost")
            #expect(try await downloader.load(LoadRequest(url: url)).data == bytes)
        }
        #expect(slow.requestCount() == 6)
        gate.openForGood()
        for task in tasks { #expect(try await task.value.data == bytes) }
    }
}
#endif
