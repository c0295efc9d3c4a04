import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import CommandSupport
@testable import TintypeCommand

@Suite("Output files", .timeLimited)
struct OutputFileTests {
    @Test("A file is replaced completely, has the usual permissions, and leaves no temporary file")
    func replace() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/a.png"
        try OutputFile.replace(path, with: Data("old".utf8))
        try OutputFile.replace(path, with: Data("new".utf8))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("new".utf8))
        #expect(try names(in: folder.path) == ["a.png"])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect((mode ?? 0) & 0o600 == 0o600 && (mode ?? 0) & 0o111 == 0)
    }

    @Test("A replaced file keeps its permissions", arguments: [0o600, 0o640, 0o644, 0o400, 0o666])
    func permissions(_ mode: Int) throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write(Data("old".utf8), to: "a.png").path
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        try OutputFile.replace(path, with: Data("new".utf8))
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == mode)
        #expect(FileManager.default.contents(atPath: path) == Data("new".utf8))
    }

    @Test("A symbolic link stays, and its target is replaced or created", arguments: [true, false])
    func link(_ exists: Bool) throws {
        let folder = try TemporaryDirectory()
        if exists { try folder.write(Data("old".utf8), to: "real/b.png") }
        try FileManager.default.createDirectory(atPath: folder.path + "/real", withIntermediateDirectories: true)
        // A relative link to an absolute one.
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/a.png", withDestinationPath: "real/link.png")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/real/link.png", withDestinationPath: folder.path + "/real/b.png")
        try OutputFile.replace(folder.path + "/a.png", with: Data("new".utf8))
        #expect(FileManager.default.contents(atPath: folder.path + "/real/b.png") == Data("new".utf8))
        for (link, target) in [("/a.png", "real/link.png"), ("/real/link.png", folder.path + "/real/b.png")] {
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path + link) == target)
        }
        #expect(try names(in: folder.path) == ["a.png", "real"])
        #expect(try names(in: folder.path + "/real") == ["b.png", "link.png"])
    }

    @Test("A loop of links, or a directory, is an error that names the file")
    func noFile() throws {
        let folder = try TemporaryDirectory()
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/a.png", withDestinationPath: "b.png")
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/b.png", withDestinationPath: "a.png")
        for path in [folder.path + "/a.png", folder.path] {
            let error = #expect(throws: ImageError.self) { try OutputFile.replace(path, with: Data("x".utf8)) }
            #expect(error?.code == .fileWriteFailed && error?.source == path)
        }
    }

    @Test("A device is written to and stays a device")
    func device() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/null.png"
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/null")
        try OutputFile.replace(path, with: Data("x".utf8))
        let type = try FileManager.default.attributesOfItem(atPath: "/dev/null")[.type] as? FileAttributeType
        #expect(type == .typeCharacterSpecial)
    }

    @Test("An existing file isn't overwritten")
    func create() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/a.png"
        #expect(try OutputFile.create(path, with: Data("first".utf8)))
        #expect(try !OutputFile.create(path, with: Data("second".utf8)))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("first".utf8))
        #expect(try names(in: folder.path) == ["a.png"])
    }

    @Test("A dangling link counts as an existing file")
    func danglingLink() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/a.png"
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.path + "/elsewhere")
        #expect(try !OutputFile.create(path, with: Data("x".utf8)))
        #expect(try names(in: folder.path) == ["a.png"])
    }

    @Test("A missing folder is an error that names the file")
    func missingFolder() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/none/a.png"
        let error = #expect(throws: ImageError.self) { try OutputFile.replace(path, with: Data()) }
        #expect(error?.code == .fileWriteFailed && error?.source == path)
    }

    @Test("A file in place of the folder is an error")
    func fileAsFolder() throws {
        let folder = try TemporaryDirectory()
        try folder.write(Data(), to: "file")
        let error = #expect(throws: ImageError.self) { try OutputFile.makeDirectory(folder.path + "/file") }
        #expect(error?.reason.contains("is a file") == true)
    }

    @Test("The second photo.jpg of a run becomes photo-2.jpg, even with equal contents")
    func uniqueNames() throws {
        let folder = try TemporaryDirectory()
        let output = OutputFolder(folder.path)
        let reservations = ["http://a/photo.jpg", "http://b/photo.jpg", "http://c/photo.jpg"].map(output.reserve)
        // In another order than that of the list.
        for index in [2, 0, 1] {
            let path = try output.save(Data("x".utf8), format: .jpeg, as: reservations[index])
            #expect(path == folder.path + ["/photo.jpg", "/photo-2.jpg", "/photo-3.jpg"][index])
        }
        #expect(try names(in: folder.path) == ["photo-2.jpg", "photo-3.jpg", "photo.jpg"])
    }

    @Test("A file of an earlier run stays, and equal contents aren't saved twice")
    func laterRun() throws {
        let folder = try TemporaryDirectory()
        func save(_ text: String) throws -> String {
            let output = OutputFolder(folder.path)
            return try output.save(Data(text.utf8), format: .png, as: output.reserve(url: "http://a/x.png"))
        }
        #expect(try save("one") == folder.path + "/x.png")
        #expect(try save("one") == folder.path + "/x.png")
        #expect(try save("two") == folder.path + "/x-2.png")
        #expect(try save("two") == folder.path + "/x-2.png")
        #expect(try names(in: folder.path) == ["x-2.png", "x.png"])
    }

    @Test("The extension is that of the actual format")
    func endings() throws {
        let folder = try TemporaryDirectory()
        let output = OutputFolder(folder.path)
        func save(_ url: String, _ format: ImageFormat) throws -> String {
            String(
                try output.save(Data(), format: format, as: output.reserve(url: url)).dropFirst(folder.path.count + 1))
        }
        #expect(try save("http://a/1.jpeg", .jpeg) == "1.jpeg")
        #expect(try save("http://a/2.JPG", .jpeg) == "2.JPG")
        #expect(try save("http://a/3.jpg", .webp) == "3.webp")
        #expect(try save("http://a/4.php", .png) == "4.php.png")
        #expect(try save("http://a/5", .gif) == "5.gif")
        #expect(try save("http://a/v1.2", .png) == "v1.2.png")
    }
}
