import Foundation
import Glibc
import TestSupport
import Testing
import Tintype
import TintypeTesting

@Suite("Images of files", .timeLimited)
struct ImageContentsTests {
    private let folder = try! TemporaryDirectory()

    private func failure(_ path: String) -> ImageError? {
        do throws(ImageError) {
            _ = try Image(contentsOf: URL(filePath: path))
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "The name of a file gives the scale, of animations too", .capability("ANI-01", "MET-24"), arguments: [1, 2, 3])
    func scale(scale: Int) throws {
        let frames = try (0..<2).map { index in
            var pixels = try MutablePixelBuffer(size: PixelSize(width: 12, height: 6), cleared: true)
            pixels.withUnsafeMutableBytes { $0[0] = UInt8(200 + index) }
            return ImageFrame(pixels: pixels.freeze(), duration: .milliseconds(50))
        }
        let animation = try #require(Image(frames: frames))
        let suffix = scale == 1 ? "" : "@\(scale)x"
        for (format, name) in [(ImageFormat.png, "still"), (.gif, "moving")] {
            let image = format == .gif ? animation : Image(pixels: frames[0].pixels)
            let url = try folder.write(image.encoded(as: format), to: name + suffix + "." + format.rawValue)
            let read = try Image(contentsOf: url)
            #expect(read.scale == Double(scale) && read.size == PixelSize(width: 12, height: 6))
            #expect(read.animation?.frameCount == (format == .gif ? 2 : nil))
            #expect(read.animation.map { $0.poster.scale == Double(scale) } ?? true)
        }
    }

    @Test("What is no file, or too large, is an error before memory is taken, and nothing waits")
    func others() throws {
        let pipe = folder.path + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        let large = try folder.write(Data(), to: "large.png").path
        #expect(truncate(large, 3 << 30) == 0)
        #expect(failure(pipe)?.code == .fileUnreadable && failure("/dev/zero")?.code == .fileUnreadable)
        #expect(failure(folder.path)?.code == .fileUnreadable)
        #expect(failure(large)?.code == .bodyTooLarge)
        let error = try #require(failure(folder.path + "/none"))
        #expect(error.code == .fileUnreadable && error.source == folder.path + "/none" && error.stage == .load)
    }
}
