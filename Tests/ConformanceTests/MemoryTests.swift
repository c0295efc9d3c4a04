import CLinux
import Foundation
import TestSupport
import Testing
import Tintype

/// The pixels of an image depend on its bytes alone, never on what was in memory before.
///
/// Decodes each file of the corpora with two fillings of fresh and reused memory. Every file is tried, whether the manifest knows it or not.
@Suite("Memory in pixels", .serialized, .timeLimited, .enabled(if: Corpora.folder != nil, "TINTYPE_CORPORA is not set"))
struct MemoryTests {
    /// The largest file that is tried: structure is what matters, and large files are slow.
    private static let maximumBytes = 300 << 10

    private static let files: [URL] = {
        guard let folder = Corpora.folder, let paths = FileManager.default.enumerator(atPath: folder.path) else {
            return []
        }
        return paths.compactMap { $0 as? String }.sorted().map { folder.appendingPathComponent($0) }.filter {
            let values = try? $0.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
            return values?.isRegularFile == true && values?.fileSize ?? .max <= maximumBytes
        }
    }()

    /// Drawings and camera files are decoded in a process of their own: some of the corpora end the library that reads them.
    private static let untriedFormats: Set<ImageFormat> = [.svg, .pdf, .raw]

    @Test("An image shows nothing that was in memory before")
    func pixelsDependOnBytesAlone() throws {
        defer { _ = mallopt(M_PERTURB, 0) }
        var tried = 0
        for file in Self.files {
            let data = try Data(contentsOf: file)
            guard let format = ImageFormat(sniffing: data), !Self.untriedFormats.contains(format) else { continue }
            tried += 1
            let outcomes = [UInt8(0x55), 0xAA].map { Self.outcome(of: data, filling: $0) }
            #expect(outcomes[0] == outcomes[1], "\(file.path) shows memory of the program")
        }
        #expect(tried > 0)
    }

    /// The most pixels of an image that is decoded at its size. Larger ones become thumbnails, and still pass through all of the decoder.
    private static let maximumPixels = 1 << 17
    private static let maximumFrames = 5

    private static func outcome(of data: Data, filling byte: UInt8) -> Outcome {
        _ = mallopt(M_PERTURB, Int32(byte))
        var limits = DecodeLimits()
        limits.maximumPixels = 1 << 22
        let coders = ImageCoders.inProcess
        let context = ProcessingContext(limits: limits, pool: PixelBufferPool(limit: .megabytes(64)))
        var options = DecodeOptions()
        options.allowsPartialImage = true
        do throws(ImageError) {
            let info = try coders.info(of: data, context: context)
            fill(context.pool, info.size, with: byte)
            if info.size.pixelCount > maximumPixels { options.thumbnailSize = PixelSize(width: 60, height: 60) }
            guard info.frameCount > 1 else {
                return .pixels([try coders.decode(data, options: options, context: context).pixels])
            }
            let decoder = try coders.frameDecoder(for: data, options: options, context: context)
            var frames: [PixelBuffer] = []
            while frames.count < maximumFrames, let frame = try decoder?.nextFrame() { frames.append(frame.pixels) }
            return .pixels(frames)
        } catch {
            return .failure(error.code)
        }
    }

    private enum Outcome: Equatable {
        case pixels([PixelBuffer])
        case failure(ImageError.Code)

        // A comparison of bytes by the C library, because most tests are built without optimization.
        static func == (left: Outcome, right: Outcome) -> Bool {
            switch (left, right) {
            case (.pixels(let left), .pixels(let right)):
                left.count == right.count && zip(left, right).allSatisfy(areEqual)
            case (.failure(let left), .failure(let right)): left == right
            default: false
            }
        }

        private static func areEqual(_ left: PixelBuffer, _ right: PixelBuffer) -> Bool {
            left.size == right.size && left.format == right.format
                && (0..<left.height).allSatisfy { y in
                    left.withRow(y) { left in
                        right.withRow(y) { memcmp(left.baseAddress!, $0.baseAddress!, left.count) == 0 }
                    }
                }
        }
    }

    /// Leaves blocks in a pool that have the capacity of a picture, and of rows of it.
    private static func fill(_ pool: PixelBufferPool, _ size: PixelSize, with byte: UInt8) {
        let sizes = [size, size, PixelSize(width: size.width, height: 16), PixelSize(width: size.width, height: 1)]
        var buffers: [PixelBuffer] = []
        for size in sizes where size.pixelCount <= 1 << 22 {
            guard var buffer = try? MutablePixelBuffer(size: size, cleared: false, pool: pool) else { continue }
            buffer.withUnsafeMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: byte) }
            buffers.append(buffer.freeze())
        }
    }
}
