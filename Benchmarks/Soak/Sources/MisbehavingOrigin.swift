import Foundation
import TintypeLoading
import TintypeTesting

/// A server of images that fails now and then: it cuts bodies, stalls, redirects, and answers with errors.
struct MisbehavingOrigin {
    /// The bodies, by the endings of their names.
    private let bodies: [String: Data]

    init() throws {
        var bodies: [String: Data] = [:]
        for sample in try SampleImages.all(scale: 0.1) { bodies[sample.name] = sample.data }
        self.bodies = bodies
    }

    /// Serves until the input of the process ends.
    static func serve() async throws {
        let origin = try MisbehavingOrigin()
        // The server keeps all requests, which is why it is a process of its own.
        let server = try await OriginServer.start { origin.response(to: $0) }
        print(server.url("/").absoluteString)
        fflush(nil)
        while readLine() != nil {}
        await server.stop()
    }

    private func response(to request: OriginRequest) -> OriginResponse {
        let name = request.path.split(separator: "/").last.map(String.init) ?? ""
        guard let body = bodies[name] else { return .status(404) }
        let tag = "\"\(request.path)\""
        if request.header("If-None-Match") == tag { return OriginResponse(status: 304, headers: ["ETag": tag]) }
        var response = OriginResponse(body, headers: ["ETag": tag])
        switch Int.random(in: 0..<4) {
        case 0: response = response.header("Cache-Control", "max-age=1")
        case 1: response = response.header("Cache-Control", "no-store")
        default: break
        }
        switch Int.random(in: 0..<100) {
        case 0..<3: return .status([429, 500, 503].randomElement() ?? 503)
        case 3..<6: return response.close(after: body.count / 2)
        case 6..<8: return response.reset(after: body.count / 3)
        case 8: return response.silence(after: body.count / 2)
        case 9..<12 where request.query == nil: return .redirect(to: request.path + "?again")
        case 12: return OriginResponse(body.prefix(body.count / 2), type: "image/jpeg")
        case 13: return OriginResponse(Data("no image".utf8))
        case 14..<24: return response.chunked()
        default: return response
        }
    }

    /// The names of the images.
    static func names() throws -> [String] { try SampleImages.all(scale: 0.05).map(\.name) }
}
