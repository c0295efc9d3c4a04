import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import CommandSupport
@testable import TintypeCommand

/// Every format that this build reads, into every one that it writes.
@Suite("tintype convert between all formats", .timeLimited)
struct FormatPairTests {
    static let targets: [ImageFormat] = ImageFormat.known.filter(ImageCoders.default.encodableFormats.contains)
    static let sources: [ImageFormat] =
        targets + [.ico] + (ImageCoders.default.decodableFormats.contains(.svg) ? [.svg] : [])

    private let folder: TemporaryDirectory
    private let transcript = Transcript()

    init() throws { folder = try TemporaryDirectory() }

    private func sample(_ format: ImageFormat) throws -> Data {
        switch format {
        case .svg:
            return Data(
                """
                <svg xmlns="http://www.w3.org/2000/svg" width="48" height="32">\
                <rect width="48" height="32" fill="#c04020"/></svg>
                """.utf8)
        case .ico:
            let png = try picture().encoded(as: .png)
            let length = withUnsafeBytes(of: UInt32(png.count).littleEndian, Array.init)
            return Data([0, 0, 1, 0, 1, 0, 48, 32, 0, 0, 1, 0, 32, 0] + length + [22, 0, 0, 0]) + png
        default:
            let image = try OutputFormat.storesFrames(format) ? animation() : picture()
            return try image.encoded(as: format)
        }
    }

    @Test("A picture of every format becomes one of every other", .capability("COD-46"), arguments: sources)
    func pairs(source: ImageFormat) async throws {
        let input = try folder.write(sample(source), to: "in.\(source.fileExtension)").path
        let original = try Image(data: Data(contentsOf: URL(fileURLWithPath: input)))
        for target in Self.targets {
            let output = "\(folder.path)/out.\(target.fileExtension)"
            let convert = try command(ConvertCommand.self, "convert", input, output)
            #expect(await status { try convert.run(transcript.console()) } == 0, "\(source) to \(target)")
            let result = try Image(data: Data(contentsOf: URL(fileURLWithPath: output)))
            #expect(result.format == target && result.size == original.size, "\(source) to \(target)")
            let frames = OutputFormat.storesFrames(target) ? original.frames.count : 1
            #expect(result.frames.count == frames, "\(source) to \(target)")
            #expect(isClose(result.pixels, original.pixels), "\(source) to \(target)")
        }
    }

    /// Whether pixels differ by no more than loss explains, on the average.
    private func isClose(_ a: PixelBuffer, _ b: PixelBuffer) -> Bool {
        var sum = 0
        for y in 0..<a.height {
            for x in 0..<a.width {
                for component in 0..<3 { sum += abs(Int(a[x, y][component]) - Int(b[x, y][component])) }
            }
        }
        return sum / (a.size.pixelCount * 3) < 12
    }
}
