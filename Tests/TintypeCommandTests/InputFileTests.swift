import CommandSupport
import Foundation
import Glibc
import TestSupport
import Testing
import TintypeLoading
import TintypeTesting

@Suite("Input of the command", .timeLimited)
struct InputFileTests {
    private let folder: TemporaryDirectory
    private var pipe: String { folder.path + "/pipe" }

    init() throws {
        folder = try TemporaryDirectory()
        #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
    }

    @Test("A pipe is read to its end, also if its writer comes later than its reader")
    func laterWriter() async throws {
        let reader = Task.detached { [pipe] in try InputFile.contents(of: pipe) }
        let bytes = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        // Opening it waits for the reader.
        let writer = Thread { [pipe] in FileHandle(forWritingAtPath: pipe)?.write(bytes) }
        writer.start()
        #expect(try await reader.value == bytes)
    }

    @Test("Waiting for a pipe ends when the command is canceled")
    func cancellation() async throws {
        let reader = Task.detached { [pipe] () -> ImageError? in
            do throws(ImageError) { _ = try InputFile.contents(of: pipe) } catch { return error }
            return nil
        }
        reader.cancel()
        #expect(await reader.value?.code == .cancelled)
    }
}
