import Foundation
import Glibc
import TestSupport
import Testing
import Tintype
import TintypeTesting

@Suite("Images of files", .timeLimited)
struct ImageContentsTests {
    private let folder = try! TemporaryDirectory()

    /// The error of reading a file, which is the same for its image and its header.
    private func failure(_ path: String) -> ImageError? { failure(URL(filePath: path)) }

    private func failure(_ url: URL) -> ImageError? {
        let image = error { () throws(ImageError) in _ = try Image(contentsOf: url) }
        let header = error { () throws(ImageError) in _ = try ImageInfo(contentsOf: url) }
        #expect(image?.code == header?.code && image?.source == header?.source)
        return header
    }

    private func error(_ body: () throws(ImageError) -> Void) -> ImageError? {
        do throws(ImageError) { try body() } catch { return error }
        return nil
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
        let address = try #require(URL(string: "https://me:secret@example.org/a.png"))
        let web = try #require(failure(address))
        #expect(web.code == .invalidURL && web.source?.contains("secret") == false)
        let text = try folder.write(Data("no image".utf8), to: "text.png").path
        #expect(failure(text)?.code == .unknownFormat && failure(text)?.source == text)
    }

    @Test("The header of a file is that of its bytes, with what is at their end")
    func header() throws {
        let frames = (0..<3).map { _ in ImageFrame(pixels: pixels(12, 6), duration: .milliseconds(50)) }
        let data = try #require(Image(frames: frames)).encoded(as: .gif)
        let info = try ImageInfo(contentsOf: folder.write(data, to: "moving.gif"))
        #expect(info == (try ImageInfo(data: data)) && info.frameCount == 3 && info.isComplete)
        var limits = DecodeLimits()
        limits.maximumFrames = 2
        #expect(throws: ImageError.self) {
            try ImageInfo(contentsOf: folder.url(of: "moving.gif"), limits: limits)
        }
    }

    private func pixels(_ width: Int, _ height: Int) -> PixelBuffer {
        try! MutablePixelBuffer(size: PixelSize(width: width, height: height), cleared: true).freeze()
    }
}
