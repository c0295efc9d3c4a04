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

    @Test("A link to a name that isn't UTF-8 is an error, and no file with a similar name appears")
    func strangeLink() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/a.png"
        #expect(symlink([0x62, -1, 0], path) == 0)
        let error = #expect(throws: ImageError.self) { try OutputFile.replace(path, with: Data("x".utf8)) }
        #expect(error?.code == .fileWriteFailed && error?.reason.contains("UTF-8") == true)
        #expect(try names(in: folder.path) == ["a.png"])
    }

    @Test("A link to standard output, or a minus, writes to it, also if it is a pipe", arguments: ["-", "link"])
    func standardOutput(_ name: String) async throws {
        let folder = try TemporaryDirectory()
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link", withDestinationPath: "/dev/stdout")
        await #expect(processExitsWith: .exitCode(0)) {
            [path = (name == "-" ? name : "\(folder.path)/\(name)") as String] in
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0, dup2(ends[1], STDOUT_FILENO) >= 0 else { exit(2) }
            try OutputFile.replace(path, with: Data("picture".utf8))
            var bytes = [UInt8](repeating: 0, count: 16)
            let count = read(ends[0], &bytes, bytes.count)
            exit(bytes.prefix(max(0, count)).elementsEqual("picture".utf8) ? 0 : 3)
        }
    }

    @Test("A named pipe gets all bytes, also if its reader comes later than its writer")
    func laterReader() throws {
        let folder = try TemporaryDirectory()
        let pipe = folder.path + "/pipe.png"
        #expect(mkfifo(pipe, 0o600) == 0)
        let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        Thread { try? OutputFile.replace(pipe, with: bytes) }.start()
        #expect(try InputFile.contents(of: pipe) == bytes)
    }

    @Test("Waiting for the reader of a pipe ends when the command is canceled", arguments: [true, false])
    func canceledOutput(_ hasReader: Bool) async throws {
        let folder = try TemporaryDirectory()
        let pipe = folder.path + "/pipe.png"
        #expect(mkfifo(pipe, 0o600) == 0)
        // A reader that takes nothing.
        let reader = hasReader ? open(pipe, O_RDONLY | O_NONBLOCK) : -1
        defer { if hasReader { close(reader) } }
        let writer = Task.detached { () -> ImageError? in
            do throws(ImageError) {
                try OutputFile.replace(pipe, with: Data(count: 1 << 21))
            } catch {
                return error
            }
            return nil
        }
        writer.cancel()
        #expect(await writer.value?.code == .cancelled)
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

    @Test("A folder that can't be created is an error with its cause, not with that of looking for it")
    func impossibleFolder() throws {
        // The kernel's own file system lets nobody create a folder.
        let error = #expect(throws: ImageError.self) { try OutputFile.makeDirectory("/sys/tintype") }
        let causes = [EPERM, EACCES, EROFS].map { String(cString: strerror($0)) }
        #expect(causes.contains { error?.reason.hasSuffix("the directory can't be created: \($0)") == true })
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
