import ArgumentParser
import Foundation
import Glibc
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import CommandSupport
@testable import TintypeCommand

@Suite("tintype cache import", .timeLimited)
struct SDWebImageImportTests {
    let folder: TemporaryDirectory
    let transcript = Transcript()
    var directory: String { folder.path + "/cache" }
    var old: String { folder.path + "/old" }
    var disk: DiskCache { DiskCache(.init(directory: directory, maximumAge: nil, minimumFreeSpace: 0)) }

    init() throws { folder = try TemporaryDirectory() }

    // MARK: Names

    @Test(
        "A file is named after the digest of its key, with the key's extension", .capability("CPA-02"),
        arguments: [
            ("https://example.com/a.png", "8c11d92f07c76baf29e49afd2301deb2.png"),
            ("http://via.placeholder.com/100x100.png?size=large#frag", "591e24889953d9d0f9985fda2576fa26.png"),
            ("no url: at all.jpeg", "aa4769386ea21e698a0c72af64fb5935.jpeg"),
        ])
    func fileName(key: String, expected: String) {
        #expect(SDWebImageName.fileName(forKey: key) == expected)
        #expect(SDWebImageName.legacyFileName(forKey: key) == String(expected.prefix(32)))
    }

    @Test(
        "What is the extension of a key, and what is none", .capability("CPA-02"),
        arguments: [
            ("https://example.com", ""), ("https://example.com/", ""), ("https://example.com/a", ""),
            ("https://example.com/a.", ""), ("https://example.com/.png", ""), ("https://example.com/a.b/c", ""),
            ("https://example.com/a.png/", "png"), ("https://example.com/a?b=c.png", ""),
            ("https://example.com/a.PNG?x", "PNG"), ("https://example.com/a.p%6Eg", "png"), ("a.tar.gz", "gz"),
            ("a b.p:n\u{0}g", "png"), ("x.y?z w", "y?z w"), ("", ""),
            ("https://example.com/a." + String(repeating: "e", count: 222), String(repeating: "e", count: 222)),
            ("https://example.com/a." + String(repeating: "e", count: 223), ""),
        ])
    func pathExtension(key: String, expected: String) {
        let name = SDWebImageName.fileName(forKey: key)
        #expect(name.dropFirst(32) == (expected.isEmpty ? "" : "." + expected))
        #expect(name.utf8.count <= 255)
    }

    @Test("The digest in a file name; other names have none")
    func digestOfName() {
        let digest = "8c11d92f07c76baf29e49afd2301deb2"
        for name in [digest, digest + ".png", digest + ".a.b"] {
            #expect(SDWebImageName.digest(ofFileName: name) == digest)
        }
        for name in [
            "", "a.png", String(digest.dropLast()), digest + "0", digest + ".", digest.uppercased(), ".DS_Store",
        ] {
            #expect(SDWebImageName.digest(ofFileName: name) == nil)
        }
    }

    // MARK: Import

    private func source(_ index: Int) -> String { "https://example.org/\(index).png" }

    private func write(_ data: Data, _ name: String, modified: Int = 1_600_000_000) throws {
        let url = try folder.write(data, to: "old/\(name)")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: Double(modified))], ofItemAtPath: url.path)
    }

    /// Files of 5.x, 4.x, and 3.x in their folders, and some of other programs.
    private func fillOld() throws {
        try write(Data("0".utf8), "com.hackemist.SDImageCache/default/\(SDWebImageName.fileName(forKey: source(0)))")
        try write(
            Data("1".utf8),
            "default/com.hackemist.SDWebImageCache.default/\(SDWebImageName.fileName(forKey: source(1)))")
        try write(
            Data("2".utf8), "com.hackemist.SDWebImageCache.default/\(SDWebImageName.legacyFileName(forKey: source(2)))")
        try write(Data("x".utf8), "com.hackemist.SDImageCache/default/.DS_Store")
        try write(Data("x".utf8), "notes.txt")
        try write(Data(), "com.hackemist.SDImageCache/default/\(SDWebImageName.fileName(forKey: "empty"))")
        try FileManager.default.createSymbolicLink(
            atPath: old + "/" + SDWebImageName.fileName(forKey: "link"), withDestinationPath: old + "/notes.txt")
    }

    /// Runs the command with a list of sources.
    private func run(_ list: [String], from place: String? = nil, _ options: String...) async throws {
        let file = try folder.write(Data((list.joined(separator: "\n") + "\n").utf8), to: "list").path
        let arguments = ["cache", "import", place ?? old, "--from", file, "--cache", directory] + options
        try await required(TintypeTool.parseAsRoot(arguments) as? CacheCommand.Import).run(transcript.console())
    }

    private func report() throws -> [String: Any] {
        try TintypeCommandTests.object(try required(transcript.output.last))
    }

    @Test(
        "Directories of 3.x, 4.x, and 5.x are imported; entries have their URLs, and are listed and removed",
        .capability("CPA-03", "CPA-04"))
    func imports() async throws {
        try fillOld()
        try write(Data("9".utf8), SDWebImageName.fileName(forKey: source(9)))
        try await run((0..<3).map(source), "--json")
        let report = try report()
        #expect(report["entries"] as? Int == 3 && report["bytes"] as? Int == 3)
        #expect(report["foreign"] as? Int == 4 && report["unknown"] as? Int == 1)
        let disk = disk
        for index in 0..<3 {
            let entry = await disk.entry(forKey: ImageKey(source: source(index)))
            #expect(entry?.data == Data("\(index)".utf8))
            #expect(entry?.created == Date(timeIntervalSince1970: 1_600_000_000))
            #expect(await disk.entries(ofSource: source(index)).count == 1)
        }
        #expect(try await disk.removeAll(ofSource: source(2)) == 1)
        #expect(await disk.entry(forKey: ImageKey(source: source(2))) == nil)
    }

    @Test("Images that SDWebImage transformed are imported under their own keys", .capability("TRF-K"))
    func variants() async throws {
        let key = SDWebImageName.key(
            "https://example.org/a.png", transformedBy: "SDImageResizingTransformer({100.000000,100.000000},0)")
        #expect(key == "https://example.org/a-SDImageResizingTransformer(%7B100.000000,100.000000%7D,0).png")
        try write(Data("small".utf8), SDWebImageName.fileName(forKey: key))
        try await run([key])
        #expect(await disk.entry(forKey: ImageKey(source: key))?.data == Data("small".utf8))
    }

    @Test(
        "The key of a transformer stands before the extension of the path, as SDWebImage has it", .capability("TRF-K"),
        arguments: [
            ("image.png", "image-K.png"), ("image", "image-K"), (".image", ".image-K"), ("image.", "image.-K"),
            ("Test/image.png", "Test/image-K.png"),
            ("http://foo/image.png?foo=bar#mark", "http://foo/image-K.png?foo=bar#mark"),
            ("http://foo/image", "http://foo/image-K"), ("http://foo/.image", "http://foo/.image-K"),
            ("ftp://root:password@foo.com/image.png", "ftp://root:password@foo.com/image-K.png"),
            ("http://foo.com", "http://foo.com-K"), ("http://foo/a?b=c.png", "http://foo/a?b=c.png-K"),
            ("https://foo/o/images%2Fa.png?alt=media", "https://foo/o/images/a-K.png?alt=media"),
            ("file:///a%20b/image.png", "file:///a%20b/image-K.png"),
        ])
    func transformedKey(key: String, expected: String) {
        #expect(SDWebImageName.key(key, transformedBy: "K") == expected)
    }

    @Test("The key of a transformer is escaped like the path", .capability("TRF-K"))
    func escapedKey() {
        #expect(
            SDWebImageName.key("https://foo/a.png", transformedBy: "SDImageTintTransformer(#ff0000,17)")
                == "https://foo/a-SDImageTintTransformer(%23ff0000,17).png")
    }

    @Test("The program imports, in whose process Foundation isn't whole", .capability("CPA-03"))
    func program() throws {
        try fillOld()
        let list = try folder.write(Data((0..<3).map(source).joined(separator: "\n").utf8), to: "list").path
        let process = Process()
        process.executableURL = URL(
            fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        ).deletingLastPathComponent().appendingPathComponent("tintype")
        process.arguments = ["cache", "import", old, "--from", list, "--cache", directory, "--json"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(try TintypeCommandTests.object(text)["entries"] as? Int == 3)
    }

    @Test("Images of a transformer are found by the list of the URLs alone, if its key is given", .capability("TRF-K"))
    func transformer() async throws {
        let (url, transformer) = ("https://example.org/a.png", "SDImageBlurTransformer(5.000000)")
        let key = SDWebImageName.key(url, transformedBy: transformer)
        try write(Data("plain".utf8), SDWebImageName.fileName(forKey: url))
        try write(Data("blurred".utf8), SDWebImageName.fileName(forKey: key))
        try await run([url], "--transformer", transformer, "--json")
        #expect(try report()["entries"] as? Int == 2)
        #expect(await disk.entry(forKey: ImageKey(source: key))?.data == Data("blurred".utf8))
    }

    @Test("An import goes on where it was; entries that exist stay; it can move the files", .capability("CPA-04"))
    func resumes() async throws {
        try fillOld()
        let before = disk
        let mine = DiskCacheEntry(data: Data("mine".utf8), created: .now)
        try await before.store(mine, forKey: ImageKey(source: source(0)))
        await before.flush()
        try await run((0..<3).map(source), "--move", "--json")
        #expect(try report()["entries"] as? Int == 2)
        #expect(try report()["existing"] as? Int == 1)
        #expect(await disk.entry(forKey: ImageKey(source: source(0)))?.data == Data("mine".utf8))
        let left = try FileManager.default.subpathsOfDirectory(atPath: old)
        #expect(left.contains("notes.txt") && left.contains("com.hackemist.SDImageCache/default/.DS_Store"))
        #expect(!left.contains { $0.hasPrefix("com.hackemist.SDWebImageCache.default") }, "emptied directories go")
        try await run((0..<3).map(source))
        #expect(transcript.output.last?.contains("imported 0 images") == true)
    }

    @Test("An import evicts nothing: the latest files come in as long as there is room", .capability("CPA-04"))
    func room() async throws {
        for index in 0..<10 {
            let name = SDWebImageName.fileName(forKey: source(index))
            try write(Data(count: 1_000), name, modified: 1_600_000_000 + index)
        }
        try await disk.store(DiskCacheEntry(data: Data(count: 6_000), created: .now), forKey: "own")
        try await run((0..<10).map(source), "--max-size", "32kB", "--json")
        let (entries, rest) = (try report()["entries"] as? Int ?? 0, try report()["withoutRoom"] as? Int ?? 0)
        #expect(entries + rest == 10 && rest >= 5)
        let disk = disk
        #expect(await disk.contains("own"))
        #expect(await disk.contains(ImageKey(source: source(9))))
        #expect(await !disk.contains(ImageKey(source: source(0))))
    }

    @Test("A directory that isn't there, is a file, or is a cache of Tintype, is an error that names it")
    func noDirectory() async throws {
        try write(Data("x".utf8), "file")
        try await disk.store(DiskCacheEntry(data: Data("x".utf8), created: .now), forKey: "own")
        for place in [old + "/none", old + "/file", directory, directory + "/entries"] {
            #expect(await status { try await run([], from: place) } == 1)
            #expect(transcript.errors.last?.contains(place) == true)
        }
        // From a folder above, no file of a cache of Tintype is taken.
        try await run(["own"], from: folder.path, "--json", "--move")
        #expect(try report()["entries"] as? Int == 0)
        #expect(await disk.contains("own"))
    }

    @Test("The data that SDWebImage kept in an attribute comes along", .capability("CST-09", "CDK-08"))
    func attributes() async throws {
        let name = SDWebImageName.fileName(forKey: source(0))
        try write(Data("0".utf8), name)
        let value = Data(repeating: 5, count: 300)
        let result = value.withUnsafeBytes {
            setAttribute(old + "/" + name, "user.com.hackemist.SDDiskCache", $0.baseAddress, $0.count)
        }
        let isSupported = result == 0
        #expect(isSupported || errno == ENOTSUP || errno == EPERM)
        try await run([source(0)])
        #expect(await disk.entry(forKey: ImageKey(source: source(0)))?.extendedData == (isSupported ? value : nil))
    }
}

/// `setxattr`, which the importer of Glibc leaves out.
private func setAttribute(_ path: String, _ name: String, _ value: UnsafeRawPointer?, _ count: Int) -> Int32 {
    typealias Call =
        @convention(c) (
            UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer?, Int, Int32
        ) -> Int32
    guard let symbol = dlsym(nil, "setxattr") else { return -1 }
    return unsafeBitCast(symbol, to: Call.self)(path, name, value, count, 0)
}
