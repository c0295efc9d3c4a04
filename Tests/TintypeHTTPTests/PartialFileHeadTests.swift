#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeTesting

@testable import TintypeHTTP

@Suite("Names and heads of partial files", .timeLimited)
struct PartialFileHeadTests {
    @Test("The digest of a file's key is the standard one")
    func digest() {
        #expect(
            SHA256.hexadecimal("abc".utf8) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            SHA256.hexadecimal("".utf8) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        let text = String(repeating: "a", count: 1_000)
        #expect(
            SHA256.hexadecimal(text.utf8) == "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3")
    }

    @Test("A file that another process has replaced meanwhile, by as many bytes, is not continued")
    func replaced() async throws {
        let folder = try TemporaryDirectory()
        let url = try #require(URL(string: "https://example.org/a"))
        let key = try #require(PartialBodyKey(DownloadRequest(url: url), for: LoadRequest(url: url)))
        let partials = PartialDownloads.directory(folder.path)
        let owner = PartialBody.owner(url)
        do {
            let file = try #require(
                await partials.file(key, validator: "\"v1\"", owner: owner, total: 5_000, continuing: nil))
            #expect(await file.append(Data("beginning".utf8)))
        }
        let partial = try #require(await partials.take(key))
        #expect(partial.bytes.data == Data("beginning".utf8))
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path).first)
        let file = URL(filePath: folder.path + "/" + name)
        try (Data("\"v2\"".utf8) + (try Data(contentsOf: file).dropFirst(4))).write(to: file)
        #expect(await partials.file(key, validator: "\"v1\"", owner: owner, total: 5_000, continuing: partial) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
#endif
