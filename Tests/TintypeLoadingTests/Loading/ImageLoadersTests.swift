import Foundation
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("Image loaders", .timeLimited)
struct ImageLoadersTests {
    /// Loads URLs of one scheme; the bytes are its name.
    private struct Named: ImageLoading {
        let name: String
        let scheme: String
        var remembers = false

        var schemes: [String] { [scheme] }
        func canLoad(_ url: URL) -> Bool { url.scheme == scheme }
        func shouldRememberFailure(_ error: ImageError, of url: URL) -> Bool { remembers }
        func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
            LoadedData(data: Data(name.utf8), url: request.url)
        }
    }

    private struct Other: ImageLoading {
        func canLoad(_ url: URL) -> Bool { true }
        func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
            LoadedData(data: Data("other".utf8), url: request.url)
        }
    }

    private struct Failing: ImageLoading {
        func canLoad(_ url: URL) -> Bool { true }
        func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
            throw ImageError(.badStatus, stage: .load, reason: "it isn't here")
        }
    }

    private func name(_ loaders: ImageLoaders, _ url: String) async throws -> String {
        let loaded = try await loaders.load(LoadRequest(url: #require(URL(string: url))))
        return String(decoding: loaded.data, as: UTF8.self)
    }

    @Test("The loader added last that can load the URL does", .capability("DLR-43", "DLR-44", "PLG-04"))
    func order() async throws {
        var loaders = ImageLoaders([Named(name: "1", scheme: "a"), Named(name: "2", scheme: "b")])
        #expect(try await name(loaders, "a://x") == "1")
        loaders.add(Named(name: "3", scheme: "a"))
        #expect(try await name(loaders, "a://x") == "3")
        #expect(try await name(loaders, "b://x") == "2")
        loaders.add(Other())
        #expect(try await name(loaders, "a://x") == "other")
        loaders.removeAll(of: Other.self)
        #expect(try await name(loaders, "a://x") == "3")
        loaders.loaders = []
        #expect(try !loaders.canLoad(#require(URL(string: "a://x"))))
    }

    @Test("The error after many alternatives names a few of theirs")
    func alternatives() async throws {
        let loader = Failing().withAlternatives { _ in (0..<20_000).compactMap { URL(string: "a://x/\($0)") } }
        let url = try #require(URL(string: "a://x"))
        let error = await #expect(throws: ImageError.self) { try await loader.load(LoadRequest(url: url)) }
        let reason = try #require(error?.reason)
        #expect(reason.utf8.count < 1_000 && reason.hasSuffix("and 19995 more"))
    }

    @Test("Without a loader the error says what there are loaders for", .capability("DLR-44"))
    func noLoader() async throws {
        let loaders = ImageLoaders([Named(name: "1", scheme: "a"), FileLoader(), Named(name: "2", scheme: "a")])
        let url = try #require(URL(string: "gopher://me:secret@x/y"))
        #expect(!loaders.canLoad(url))
        do throws(ImageError) {
            _ = try await loaders.load(LoadRequest(url: url))
            Issue.record("loaded")
        } catch {
            #expect(error.code == .invalidURL)
            #expect(error.source == "gopher://x/y")
            #expect(error.reason == "no loader accepts URLs of the scheme “gopher”; there are loaders for a, file")
        }
        let relative = try #require(URL(string: "a.png"))
        await #expect { try await ImageLoaders().load(LoadRequest(url: relative)) } throws: { error in
            (error as? ImageError)?.reason == "the URL has no scheme"
        }
    }

    @Test("The loader of the URL decides whether its failure is remembered", .capability("DLR-44"))
    func remembered() {
        let loaders = ImageLoaders([Named(name: "1", scheme: "a", remembers: true), Named(name: "2", scheme: "b")])
        func remembers(_ url: String) -> Bool {
            let error = ImageError(.badStatus, stage: .load, reason: "", statusCode: 404)
            return loaders.shouldRememberFailure(error, of: URL(string: url)!)
        }
        #expect(remembers("a://x"))
        #expect(!remembers("b://x"))
        #expect(remembers("c://x"))
    }
}
