import ArgumentParser
import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import CommandSupport
@testable import TintypeCommand

@Suite("tintype cache", .timeLimited)
struct CacheCommandTests {
    let folder: TemporaryDirectory
    let transcript = Transcript()
    var directory: String { folder.path + "/cache" }

    init() throws { folder = try TemporaryDirectory() }

    private func fill(_ count: Int = 3, bytes: Int = 100) async throws {
        let disk = DiskCache(.init(directory: directory, maximumAge: nil, minimumFreeSpace: 0))
        for index in 0..<count {
            let key = ImageKey(
                source: "https://example.org/\(index / 2).png",
                variant: index.isMultiple(of: 2) ? .original : ImageVariant(description: "fit=8x8"))
            let entry = DiskCacheEntry(
                data: Data(repeating: UInt8(index), count: bytes), created: Date(timeIntervalSince1970: 1_700_000_000),
                mimeType: "image/png")
            try await disk.store(entry, forKey: key)
        }
        await disk.flush()
    }

    private func object(_ index: Int = 0) throws -> [String: Any] {
        try TintypeCommandTests.object(try required(transcript.output.dropFirst(index).first))
    }

    private func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: directory + "/entries").filter { $0.contains("/") }
    }

    @Test("Stats counts the entries, and clear removes them")
    func statsAndClear() async throws {
        try await fill()
        let stats = try command(CacheCommand.Stats.self, "cache", "stats", "--cache", directory, "--json")
        try await stats.run(transcript.console())
        #expect(try object()["entries"] as? Int == 3)
        let clear = try command(CacheCommand.Clear.self, "cache", "clear", "--cache", directory)
        try await clear.run(transcript.console())
        #expect(transcript.output[1].contains("removed 3 images"))
        try await stats.run(transcript.console())
        #expect(try object(2)["entries"] as? Int == 0)
    }

    @Test("A cache that isn't there is empty, and one that can't be looked at is an error")
    func absentCache() async throws {
        let stats = try command(CacheCommand.Stats.self, "cache", "stats", "--cache", directory, "--json")
        try await stats.run(transcript.console())
        #expect(try object()["entries"] as? Int == 0)
        for path in [
            try folder.write(Data(), to: "file").path + "/cache",
            folder.path + "/" + String(repeating: "x", count: 300),
        ] {
            let stats = try command(CacheCommand.Stats.self, "cache", "stats", "--cache", path)
            #expect(await status { try await stats.run(transcript.console()) } == 1)
            #expect(transcript.errors.last?.contains("can't be read: ") == true)
        }
    }

    @Test("list shows a table, or one line of JSON per image, also for a single URL")
    func list() async throws {
        try await fill(5)
        try await command(CacheCommand.List.self, "cache", "list", "--cache", directory).run(transcript.console())
        #expect(transcript.output.count == 7 && transcript.output[0].hasPrefix("source"))
        // The order is that of storing only to the millisecond.
        #expect(transcript.output.dropFirst(2).filter { $0.contains("fit=8x8") }.count == 2)
        #expect(transcript.output.dropFirst(2).allSatisfy { $0.contains("2023-11-14T22:13:20Z") })
        #expect(transcript.errors.last?.contains("5 images") == true)
        try await command(CacheCommand.List.self, "cache", "list", "--cache", directory, "--limit", "2")
            .run(transcript.console())
        #expect(transcript.output.count == 11)
        #expect(transcript.errors.last?.contains("2 of 5 images") == true)
        try await command(
            CacheCommand.List.self, "cache", "list", "--cache", directory, "--source", "https://example.org/1.png",
            "--json"
        ).run(transcript.console())
        #expect(transcript.output.count == 13)
        let lines = [try object(11), try object(12)]
        #expect(lines.allSatisfy { $0["source"] as? String == "https://example.org/1.png" })
        let line = try required(lines.first { $0["variant"] as? String == "fit=8x8" })
        #expect(line["bytes"] as? Int == 100)
        #expect(line["mimeType"] as? String == "image/png")
    }

    @Test("list shows no credentials unless the user requests them")
    func listCredentials() async throws {
        var configuration = DiskCache.Configuration(directory: directory, maximumAge: nil, minimumFreeSpace: 0)
        configuration.keepsCompleteURLs = true
        let disk = DiskCache(configuration)
        try await disk.store(
            DiskCacheEntry(data: Data("x".utf8), created: .now),
            forKey: ImageKey(source: "https://me:secret@example.org/a.png"))
        await disk.flush()
        for arguments in [[], ["--json"]] {
            let list = try required(
                TintypeTool.parseAsRoot(["cache", "list", "--cache", directory] + arguments) as? CacheCommand.List)
            try await list.run(transcript.console())
        }
        let output = transcript.output.joined()
        #expect(output.contains("https://example.org/a.png") && !output.contains("secret"))
        try await command(CacheCommand.List.self, "cache", "list", "--cache", directory, "--full-urls").run(
            transcript.console())
        #expect(transcript.output.last?.contains("https://me:secret@example.org/a.png") == true)
    }

    @Test("Verify discards damaged entries, names them, and has exit status 1")
    func verify() async throws {
        try await fill()
        let verify = try command(CacheCommand.Verify.self, "cache", "verify", "--cache", directory, "--json")
        #expect(await status { try await verify.run(transcript.console()) } == 0)
        // The first entry's bytes are zeros.
        let path = try required(
            files().map { "\(directory)/entries/\($0)" }.first { FileManager.default.contents(atPath: $0)?.first == 0 })
        var data = try required(FileManager.default.contents(atPath: path))
        data[0] ^= 1
        try data.write(to: URL(fileURLWithPath: path))
        #expect(await status { try await verify.run(transcript.console()) } == 1)
        #expect(try object(1)["damaged"] as? [String] == ["https://example.org/0.png"])
        #expect(transcript.errors.last?.contains("https://example.org/0.png: damaged") == true)
        #expect(await status { try await verify.run(transcript.console()) } == 0)
        #expect(try files().count == 2)
    }

    @Test("Clean removes only expired entries, or those that exceed the given limits")
    func clean() async throws {
        try await fill(10)
        let disk = DiskCache(.init(directory: directory, maximumAge: nil, minimumFreeSpace: 0))
        try await disk.store(
            DiskCacheEntry(data: Data("x".utf8), created: Date(), expires: Date(timeIntervalSince1970: 1)),
            forKey: ImageKey(source: "expired"))
        await disk.flush()
        func clean(_ arguments: String...) async throws {
            let arguments = ["cache", "clean", "--cache", directory] + arguments
            try await required(TintypeTool.parseAsRoot(arguments) as? CacheCommand.Clean).run(transcript.console())
        }
        try await clean()
        #expect(transcript.output[0].contains("removed 1 image") && transcript.output[0].contains("10 images"))
        try await clean("--max-count", "4", "--json")
        let left = try required(object(1)["left"] as? [String: Any])
        let count = try required(left["entries"] as? Int)
        #expect((3...4).contains(count))
        try await clean("--max-size", "1B")
        #expect(transcript.output[2].contains("0 images"))
        try await fill(2)
        try await clean("--max-age", "1d")
        #expect(transcript.output[3].contains("removed 0 images"))
    }

    @Test("Inspecting a missing cache doesn't create it, and a file in its place is an error with advice")
    func noCache() async throws {
        let commands = [["stats"], ["list"], ["verify"], ["clean"], ["clear"]]
        func run(_ words: [String], _ directory: String) async -> Int32 {
            await status {
                let parsed = try TintypeTool.parseAsRoot(["cache"] + words + ["--cache", directory])
                switch parsed {
                case let command as CacheCommand.Stats: try await command.run(transcript.console())
                case let command as CacheCommand.List: try await command.run(transcript.console())
                case let command as CacheCommand.Verify: try await command.run(transcript.console())
                case let command as CacheCommand.Clean: try await command.run(transcript.console())
                case let command as CacheCommand.Clear: try await command.run(transcript.console())
                default: throw WrongCommand()
                }
            }
        }
        for words in commands { #expect(await run(words, folder.path + "/none") == 0) }
        #expect(try names(in: folder.path).isEmpty)
        let file = try folder.write(Data("x".utf8), to: "file").path
        for words in commands {
            let before = transcript.errors.count
            #expect(await run(words, file) == 1)
            #expect(transcript.errors.count == before + 1)
            #expect(
                transcript.errors.last?.contains(file) == true && transcript.errors.last?.contains("--cache") == true)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data("x".utf8))
    }

    @Test("Sizes and ages consist of a number and a unit")
    func amounts() {
        #expect(SizeLimitArgument(argument: "1.5MB")?.bytes == 1_500_000)
        #expect(SizeLimitArgument(argument: "64kB")?.bytes == 64_000)
        #expect(SizeLimitArgument(argument: "12")?.bytes == 12)
        #expect(AgeArgument(argument: "12h")?.duration == .hours(12))
        #expect(AgeArgument(argument: "0.5m")?.duration == .seconds(30))
        for text in ["", "GB", "-1", "1e3", "9999999999GB", "1TBB", "."] {
            #expect(SizeLimitArgument(argument: text) == nil, "\(text)")
        }
        for text in ["", "d", "7", "7w", "-1d", "99999999999999d"] {
            #expect(AgeArgument(argument: text) == nil, "\(text)")
        }
    }
}
