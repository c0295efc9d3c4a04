import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import CommandSupport
@testable import TintypeCommand
@testable import TintypeDemo

@Suite("tintype-demo transformers", .timeLimited)
struct TransformersCommandTests {
    @Test("The gallery shows each transformer once, and all but one change the photograph")
    func gallery() throws {
        let entries = try TransformerGallery(photograph: picture(width: 320, height: 200)).entries()
        #expect(entries.count == 30 && Set(entries.map(\.name)).count == 30)
        let original = entries[0].image
        #expect(original.size == TransformerGallery.cell)
        let same = try entries.dropFirst().filter { entry in
            guard entry.image.size == original.size else { return false }
            return try entry.image.encoded(as: .png) == original.encoded(as: .png)
        }
        // What is added is trimmed.
        #expect(same.map(\.name) == ["pad, trim"])
        for entry in entries {
            #expect(StrokeFont.fitted(entry.name, width: Float(TransformerGallery.cell.width) / 1.65) == entry.name)
        }
    }

    @Test("A photograph of one's own is shown on a sheet; one that can't be read is an error")
    func photograph() async throws {
        let folder = try TemporaryDirectory()
        let photograph = try folder.write(picture(width: 64, height: 300).encoded(as: .jpeg), to: "a.jpg").path
        let transcript = Transcript()
        let out = folder.path + "/new/sheet.png"
        let command = try demo(TransformersCommand.self, "transformers", photograph, "--out", out)
        #expect(await status { try command.run(transcript.console()) } == 0)
        #expect(transcript.output == ["contact sheet: \(out)"])
        let size = try Image(contentsOf: URL(fileURLWithPath: out)).size
        #expect(size.width > 6 * TransformerGallery.cell.width && size.height > 5 * TransformerGallery.cell.height)

        let missing = try demo(TransformersCommand.self, "transformers", folder.path + "/none.jpg", "--out", out)
        #expect(await status { try missing.run(transcript.console()) } == 1)
        #expect(transcript.errors.count == 1 && transcript.errors[0].contains("none.jpg"))
        #expect(refusal(["transformers", "--out", "sheet.exe"], by: DemoTool.self) == 64)
    }

    @Test("Without a photograph, the command draws one")
    func drawn() async throws {
        let folder = try TemporaryDirectory()
        let command = try demo(TransformersCommand.self, "transformers", "--out", folder.path + "/sheet.webp")
        #expect(await status { try command.run(Transcript().console()) } == 0)
        let size = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/sheet.webp")).count
        #expect(size > 20_000 && size < 200_000)
    }
}
