import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import TintypeCommand

@Suite("Lists of URLs", .timeLimited)
struct URLListTests {
    private func all(_ list: URLList) async throws -> [String] {
        var urls: [String] = []
        while let url = try await list.next() { urls.append(url) }
        return urls
    }

    @Test("arguments come first, then the lines; blank ones and comments do not count")
    func order() async throws {
        let folder = try TemporaryDirectory()
        let text = "\u{FEFF}http://a/1\r\n\n  # no\n#no\n  http://a/2  \n\thttp://a/3"
        let file = try folder.write(Data(text.utf8), to: "urls.txt").path
        let list = try URLList(["http://x/0"], file: file)
        #expect(try await list.count() == 4)
        #expect(try await all(list) == ["http://x/0", "http://a/1", "http://a/2", "http://a/3"])
        #expect(try await list.next() == nil)
    }

    @Test("a long list is read in pieces, in order")
    func longList() async throws {
        let folder = try TemporaryDirectory()
        let urls = (0..<20_000).map { "http://host/\($0)/some/path/to/make/it/longer.jpg" }
        let file = try folder.write(Data(urls.joined(separator: "\n").utf8), to: "urls.txt").path
        let list = try URLList([], file: file)
        #expect(try await list.count() == urls.count)
        #expect(try await all(list) == urls)
    }

    @Test("a line without end is not kept in memory")
    func endlessLine() async throws {
        let folder = try TemporaryDirectory()
        let text = String(repeating: "x", count: 3 << 20) + "\nhttp://a/1\n"
        let file = try folder.write(Data(text.utf8), to: "urls.txt").path
        #expect(try await all(URLList([], file: file)).last == "http://a/1")
    }

    @Test("a list that is missing, or a folder, is an error that names it")
    func missing() throws {
        let folder = try TemporaryDirectory()
        for path in [folder.path, folder.path + "/none"] {
            let error = #expect(throws: ImageError.self) { _ = try URLList([], file: path) }
            #expect(error?.source == path)
        }
    }

    @Test("workers take every element once, a bounded number at a time")
    func workers() async {
        let state = Lock((next: 0, running: 0, most: 0, seen: Set<Int>()))
        await Workers.run(3) {
            state.withLock { state -> Int? in
                guard state.next < 50 else { return nil }
                state.next += 1
                return state.next
            }
        } work: { element in
            state.withLock {
                $0.running += 1
                $0.most = max($0.most, $0.running)
                $0.seen.insert(element)
            }
            await Task.yield()
            state.withLock { $0.running -= 1 }
        }
        let end = state.withLock { $0 }
        #expect(end.seen.count == 50 && end.most <= 3)
    }
}
