import CLoops
import Foundation
import Tintype

/// The loops in C, into memory that is used again.
final class BareLoops {
    private let bytesPerRow: Int
    private let pixels: UnsafeMutablePointer<UInt8>

    /// - Parameter size: the largest that is decoded.
    init(size: PixelSize) {
        bytesPerRow = (size.width * 4 + 63) & ~63
        pixels = .allocate(capacity: bytesPerRow * size.height)
    }

    deinit { pixels.deallocate() }

    func jpeg(_ data: Data) {
        data.withUnsafeBytes { bare_jpeg($0.bindMemory(to: UInt8.self).baseAddress, $0.count, 8, pixels, bytesPerRow) }
    }

    func png(_ data: Data) {
        data.withUnsafeBytes { bare_png($0.bindMemory(to: UInt8.self).baseAddress, $0.count, pixels, bytesPerRow) }
    }

    /// Decodes at the smallest of 1, 2, 4 and 8 eighths that is at least twice the target's size, and resamples with the library's own
    /// filter. The orientation is not applied.
    func thumbnail(_ data: Data, of source: PixelSize, to target: PixelSize) throws -> PixelBuffer {
        var size = source
        var eighths = 8
        for candidate in [4, 2, 1] {
            let smaller = PixelSize(
                width: (source.width * candidate + 7) / 8, height: (source.height * candidate + 7) / 8)
            guard smaller.width >= 2 * target.width, smaller.height >= 2 * target.height else { break }
            (size, eighths) = (smaller, candidate)
        }
        let buffer = try MutablePixelBuffer(size: size)
        data.withUnsafeBytes {
            bare_jpeg(
                $0.bindMemory(to: UInt8.self).baseAddress, $0.count, Int32(eighths),
                buffer.row(0).assumingMemoryBound(to: UInt8.self), buffer.bytesPerRow)
        }
        return try Image(pixels: buffer.freeze()).resized(to: target).pixels
    }
}
