import Foundation
import Glibc
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("File loader", .timeLimited)
struct FileLoaderTests {
    private let folder: TemporaryDirectory
    private let loader = FileLoader()
    private let contents = Data((0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    init() throws { folder = try TemporaryDirectory() }

    private func failure(_ url: URL, loader: FileLoader = FileLoader()) async -> ImageError.Code? {
        do throws(ImageError) {
            _ = try await loader.load(LoadRequest(url: url))
            return nil
        } catch {
            #expect(error.source == url.absoluteString)
            #expect(error.stage == .load)
            return error.code
        }
    }

    @Test("A file comes whole, in pieces that are reported")
    func loads() async throws {
        let url = try folder.write(contents, to: "ä b#1.png")
        let reports = Watched<[LoadProgress]>([])
        let loaded = try await loader.load(
            LoadRequest(url: url) { report in reports.update { $0.append(report) } })
        #expect(loaded.data == contents)
        #expect(loaded.url == url)
        #expect(loaded.statusCode == nil && loaded.networkProtocol == nil)
        #expect(reports.value.count == 4)
        #expect(reports.value.first?.receivedBytes == 0)
        #expect(reports.value.allSatisfy { $0.expectedBytes == 600_000 })
        #expect(reports.value.map(\.chunk).reduce(Data(), +) == contents)
    }

    @Test("Only file URLs of this computer are loaded")
    func schemes() async throws {
        #expect(loader.canLoad(folder.url))
        #expect(try loader.canLoad(#require(URL(string: "FILE:///a"))))
        #expect(try !loader.canLoad(#require(URL(string: "http://host/a"))))
        #expect(await failure(try #require(URL(string: "file://server/a.png"))) == .invalidURL)
        let url = try folder.write(contents, to: "a")
        let local = try #require(URL(string: "file://localhost\(url.path())"))
        #expect(try await loader.load(LoadRequest(url: local)).data == contents)
    }

    @Test("What is missing or is no file says so in the system's words")
    func unreadable() async throws {
        do throws(ImageError) {
            _ = try await loader.load(LoadRequest(url: folder.url(of: "none")))
            Issue.record("loaded")
        } catch {
            #expect(error.code == .fileUnreadable)
            #expect(error.reason == "No such file or directory")
        }
        #expect(await failure(folder.url) == .fileUnreadable)
        #expect(await failure(URL(filePath: "/dev/zero")) == .fileUnreadable)
        let pipe = folder.url(of: "pipe")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        #expect(await failure(pipe) == .fileUnreadable)
        #expect(await failure(try folder.write(Data(), to: "empty")) == .emptyBody)
    }

    @Test("A file over the limit is not read")
    func tooLarge() async throws {
        let url = try folder.write(contents, to: "a")
        #expect(await failure(url, loader: FileLoader(maximumBytes: 599_999)) == .bodyTooLarge)
        #expect(await failure(url, loader: FileLoader(maximumBytes: 600_000)) == nil)
    }

    @Test("An unchanged file is not read again")
    func notModified() async throws {
        let url = try folder.write(contents, to: "a")
        let validators = try await loader.load(LoadRequest(url: url)).validators
        let again = LoadRequest(url: url, validators: validators)
        let answer = try await loader.load(again)
        #expect(answer.isNotModified && answer.data.isEmpty && answer.validators == validators)
        try (contents + contents).write(to: url)
        #expect(try await loader.load(again).data.count == 1_200_000)
    }

    @Test("A load that is cancelled in the middle reads no further")
    func cancelled() async throws {
        let url = try folder.write(contents, to: "a")
        let task = Watched<Task<LoadedData, any Error>?>(nil)
        let reports = Watched(0)
        let load = Task {
            try await task.wait { $0 != nil }
            let request = LoadRequest(url: url) { _ in
                reports.update { $0 += 1 }
                task.value?.cancel()
            }
            return try await loader.load(request)
        }
        task.update { $0 = load }
        await #expect { try await load.value } throws: { ImageError.Code.cancelled ~= $0 }
        #expect(reports.value == 1)
    }
}
