// A server of thumbnails: GET /thumbnail?width=400&url=https://example.org/photo.jpg
import Foundation
import Hummingbird
import Tintype

let arguments = CommandLine.arguments.dropFirst()
guard let port = arguments.first.flatMap({ Int($0) }), let directory = arguments.dropFirst().first else {
    print("usage: ThumbnailServer PORT CACHE-DIRECTORY [--local]")
    exit(64)
}

// snippet: server-loader
// Visitors choose the URLs, so the loader refuses files and addresses of the own network.
let isLocal = arguments.contains("--local")
let loader = ImageDownloader(isLocal ? .init() : .untrustedURLs)
let thumbnails = try Thumbnails(loader: loader, directory: directory)
// snippet.end

// snippet: server-route
let router = Router()
router.get("thumbnail") { request, _ in
    let parameters = request.uri.queryParameters
    guard let url = parameters["url"].map({ String($0) }),
        let width = parameters["width"].flatMap({ Int($0) }), (1...2_000).contains(width)
    else { throw HTTPError(.badRequest, message: "expected a URL and a width from 1 to 2000") }
    do throws(ImageError) {
        let webp = try await thumbnails.webp(of: url, width: width)
        return Response(
            status: .ok, headers: [.contentType: "image/webp", .cacheControl: "max-age=3600"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: webp)))
    } catch {
        throw error.answer
    }
}
// snippet.end

// snippet: server-errors
extension ImageError {
    /// The answer to a visitor. The reason never has secrets of the URL.
    var answer: HTTPError {
        // A failure that is remembered gets the same answer as the first.
        switch (underlying as? ImageError)?.code ?? code {
        case .invalidURL, .loadingDisallowed: HTTPError(.badRequest, message: reason)
        case .badStatus where statusCode == 404: HTTPError(.notFound, message: reason)
        case .timedOut: HTTPError(.gatewayTimeout, message: reason)
        default: HTTPError(.badGateway, message: reason)
        }
    }
}
// snippet.end

// snippet: server-run
let application = Application(
    router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
try await application.runService()
// snippet.end
