import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import CommandSupport
@testable import TintypeCommand

@Suite("Lists of URLs", .timeLimited)
struct URLListTests {
    private func all(_ list: URLList) async throws -> [String] {
        var urls: [String] = []
        while let url = try await list.next() { urls.append(url) }
        return urls
    }

    @Test("Arguments come first, then the lines of the list, without blank lines and comments")
    func order() async throws {
        let folder = try TemporaryDirectory()
        let text = "\u{FEFF}http://a/1\r\n\n  # no\n#no\n  http://a/2  \n\thttp://a/3"
        let file = try folder.write(Data(text.utf8), to: "urls.txt").path
        let list = try URLList(["http://x/0"], file: file)
        #expect(try await list.count() == 4)
        #expect(try await all(list) == ["http://x/0", "http://a/1", "http://a/2", "http://a/3"])
        #expect(try await list.next() == nil)
    }

    @Test("The bytes of a line that isn't UTF-8 become escapes")
    func otherEncodings() async throws {
        let folder = try TemporaryDirectory()
        let latin = Data("http://a/f".utf8) + [0xFC] + Data("r.png".utf8)
        let file = try folder.write(latin + Data("\nhttp://a/für.png\n".utf8) + latin, to: "urls.txt").path
        let list = try URLList([], file: file)
        #expect(try await all(list) == ["http://a/f%FCr.png", "http://a/für.png", "http://a/f%FCr.png"])
    }

    @Test("A long list is read in parts, in order")
    func longList() async throws {
        let folder = try TemporaryDirectory()
        let urls = (0..<20_000).map { "http://host/\($0)/some/path/to/make/it/longer.jpg" }
        let file = try folder.write(Data(urls.joined(separator: "\n").utf8), to: "urls.txt").path
        let list = try URLList([], file: file)
        #expect(try await list.count() == urls.count)
        #expect(try await all(list) == urls)
    }

    @Test(
        "A line of over 1 MB is skipped and counted, and no part of it is taken for a URL",
        arguments: [(1 << 20) + 1, (1 << 20) + 70_000, 3 << 20])
    func longLine(_ length: Int) async throws {
        let folder = try TemporaryDirectory()
        let long = String(repeating: "x", count: length)
        let file = try folder.write(Data("http://a/0\n\(long)\nhttp://a/1\n\(long)".utf8), to: "urls.txt").path
        let list = try URLList([], file: file)
        #expect(try await all(list) == ["http://a/0", "http://a/1"])
        #expect(list.skippedLines == 2)
    }

    @Test("A line of 1 MB is an ordinary URL")
    func longestLine() async throws {
        let folder = try TemporaryDirectory()
        let longest = String(repeating: "x", count: URLList.longestLine)
        let file = try folder.write(Data("\(longest)\nhttp://a/1".utf8), to: "urls.txt").path
        let list = try URLList([], file: file)
        #expect(try await all(list) == [longest, "http://a/1"])
        #expect(list.skippedLines == 0)
    }

    @Test("A missing list, or a folder, is an error that names it")
    func missing() throws {
        let folder = try TemporaryDirectory()
        for path in [folder.path, folder.path + "/none"] {
            let error = #expect(throws: ImageError.self) { _ = try URLList([], file: path) }
            #expect(error?.source == path)
        }
    }

    @Test("Waiting for the writer of a pipe, which may never come, ends when the command is canceled")
    func pipeWithoutWriter() async throws {
        let folder = try TemporaryDirectory()
        let pipe = folder.path + "/urls"
        #expect(mkfifo(pipe, 0o600) == 0)
        let reading = Task.detached { () -> ImageError? in
            do throws(ImageError) { _ = try await URLList([], file: pipe).next() } catch { return error }
            return nil
        }
        reading.cancel()
        #expect(await reading.value?.code == .cancelled)
    }

    @Test("A list that can't be read to its end is an error, not an empty list")
    func unreadable() async throws {
        // The first page of a process can't be read.
        let list = try URLList([], file: "/proc/self/mem")
        let error = await #expect(throws: ImageError.self) { _ = try await list.next() }
        #expect(error?.code == .fileUnreadable && error?.source == "/proc/self/mem")
    }

    @Test("The allowed number of workers run at once, and each element is processed once")
    func workers() async throws {
        let state = Watched((next: 0, running: 0, most: 0, seen: Set<Int>()))
        let gate = OriginGate()
        async let work: Void = Workers.run(3) {
            state.update { state -> Int? in
                guard state.next < 50 else { return nil }
                state.next += 1
                return state.next
            }
        } work: { element in
            state.update {
                $0.running += 1
                $0.most = max($0.most, $0.running)
                $0.seen.insert(element)
            }
            try? await gate.pass()
            state.update { $0.running -= 1 }
        }
        // A worker that has no element yet would be the fourth, and would take the fourth.
        try await gate.waitForArrivals(3)
        #expect(state.value.running == 3)
        gate.openForGood()
        await work
        #expect(state.value.seen.count == 50 && state.value.most == 3)
    }
}
