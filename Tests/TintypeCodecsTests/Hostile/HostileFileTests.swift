import Foundation
import TestSupport
import Testing
import TintypeCodecs
import TintypeImages

@Suite("Hostile files", .timeLimited)
struct HostileFileTests {
    /// The folder for the files, which a script measures in processes of their own; `nil` in ordinary runs.
    static let folder = ProcessInfo.processInfo.environment["TINTYPE_HOSTILE_FILES"].map { URL(filePath: $0) }

    private static let files = HostileFile.all.filter { coder(for: $0) != nil }

    private static func coder(for file: HostileFile) -> (any ImageCoder)? {
        switch file.format {
        case "gif": return GIFCoder()
        case "png": return PNGCoder()
        case "webp": return WebPCoder()
        #if AVIF
        case "avif": return AVIFCoder()
        #endif
        #if TIFF
        case "tiff": return TIFFCoder()
        #endif
        #if SVG
        case "svg": return SVGCoder()
        #endif
        #if PDF
        case "pdf": return PDFCoder()
        #endif
        default: return nil
        }
    }

    @Test(
        "The harmless file of each kind decodes, whole and as a thumbnail", .capability("COD-60"), arguments: Self.files
    )
    func harmless(file: HostileFile) throws {
        let coder = try #require(Self.coder(for: file))
        let data = file.twin()
        let info = try coder.info(of: data, context: ProcessingContext())
        let image = try coder.decode(data)
        #expect(image.frames.count == info.frameCount && image.size == info.displaySize && !image.isPartial)
        let small = try coder.decode(data) {
            $0.thumbnailSize = PixelSize(width: 16, height: 16)
            $0.firstFrameOnly = true
        }
        #expect(small.frames.count == 1 && max(small.size.width, small.size.height) <= 16)
    }

    @Test(
        "A hostile file of each kind is refused with the limit that it exceeds", .capability("COD-60"),
        arguments: Self.files
    )
    func hostile(file: HostileFile) throws {
        guard file.isRefused else { return }
        let coder = try #require(Self.coder(for: file))
        let data = file.data(2)
        expectCode(.limitExceeded) { try coder.decode(data) }
        // Animations are refused for a small version of all frames, too.
        if coder is any AnimatedImageCoder {
            expectCode(.limitExceeded) {
                try coder.decode(data) { $0.thumbnailSize = PixelSize(width: 16, height: 16) }
            }
        }
    }

    @Test("Writes the files for a script", .enabled(if: Self.folder != nil))
    func write() throws {
        let folder = try #require(Self.folder)
        try HostileFile.write(to: folder)
    }
}
