import CJPEGCoefficients
import CKernels
import Foundation

@testable import TintypeCodecs
@testable import TintypeImages

/// The coefficients of a file, as the decoder of thumbnails and libjpeg read them.
enum ThumbnailCoefficients {
    struct Decoded {
        /// `last + 1` numbers for each block, in the order of the scan.
        var values: [Int16] = []
        /// How often a stream took over the part of the next.
        var takeovers = 0
    }

    /// Returns the first coefficients of all blocks; `nil` for a file that is left to libjpeg.
    /// - Parameters:
    ///   - last: the last coefficient of a block, in zigzag order.
    ///   - warmUp: the bytes that a stream reads before it relies on its guess.
    static func decode(_ data: Data, last: Int, warmUp: Int = 1_024) throws -> Decoded? {
        let bytes = Array(data)
        guard bytes.starts(with: [0xFF, 0xD8]), let frame = try? ThumbnailFrame(bytes.span) else { return nil }
        if frame.isProgressive { return try decodeProgressive(bytes, frame, last: last) }
        guard let coding = try? ScanCoding(frame, last: frame.components.map { _ in last }) else { return nil }
        var reader = try ScanReader(frame, coding, byteCount: bytes.count, context: ProcessingContext())
        reader.window.warmUp = warmUp
        var result = Decoded()
        var predictions = [0, 0, 0]
        while !reader.isAtEnd {
            do throws(NotForThumbnails) { try reader.next(bytes.span) } catch { return nil }
            for lane in reader.window.lanes {
                if frame.restartInterval > 0 { predictions = [0, 0, 0] }
                var large = lane.large[...]
                reader.records.withBytes { records in
                    for index in 0..<lane.mcus * frame.blocks.count {
                        var values: [Int] = []
                        for k in 0...last {
                            let place = lane.top - index * coding.recordSize - 1 - k
                            values.append(Int(records.unsafeLoad(fromByteOffset: place, as: Int8.self)))
                        }
                        while let next = large.first, Int(next.record) == index {
                            values[Int(next.position)] = Int(next.value)
                            large.removeFirst()
                        }
                        let component = frame.blocks[index % frame.blocks.count].component
                        predictions[component] += values[0]
                        values[0] = predictions[component]
                        result.values += values.map { Int16(truncatingIfNeeded: $0) }
                    }
                }
            }
        }
        result.takeovers = reader.window.takeovers
        return result
    }

    /// The last coefficient of those that files of several scans have room for.
    static let lastOfProgressive = BlockFormat.lastCoefficient

    private static func decodeProgressive(_ bytes: [UInt8], _ frame: ThumbnailFrame, last: Int) throws -> Decoded? {
        let all = frame.components.map { _ in last }
        guard frame.restartInterval == 0, frame.mcus.pixelCount * frame.blocks.count < 4_000_000,
            let scans = bytes.withUnsafeBytes({ JPEGScans($0) })
        else { return nil }
        var resampler = try CoefficientResampler(
            frame, last: all, target: PixelSize(width: 1, height: 1), keepsAll: true, pool: .shared)
        var reader = try ProgressiveReader(
            frame, scans, last: all, blockBytes: resampler.blockBytes, context: ProcessingContext(),
            isWanted: { _ in true })
        do throws(NotForThumbnails) { try reader.readAll(bytes.span, into: &resampler) } catch { return nil }
        var places: [Int] = []
        for y in 0..<frame.mcus.height {
            for x in 0..<frame.mcus.width {
                for block in frame.blocks {
                    let component = frame.components[block.component]
                    let (place, _) = resampler.place(
                        y * component.vertical + block.row, x * component.horizontal + block.column,
                        of: block.component)
                    places += resampler.places(of: block.component)[...last].map { place + $0 }
                }
            }
        }
        var result = Decoded()
        try resampler.withBlocks { blocks in
            for place in places { result.values.append(blocks.unsafeLoad(fromByteOffset: place, as: Int16.self)) }
        }
        return result
    }

    /// Returns the same numbers as libjpeg reads them; `nil` for a file that it can't read without a warning.
    static func reference(_ data: Data, last: Int) -> [Int16]? {
        var coefficients: UnsafeMutablePointer<Int16>?
        var warnings = 0
        let blocks = data.withUnsafeBytes {
            jpeg_coefficients($0.bindMemory(to: UInt8.self).baseAddress, $0.count, &coefficients, &warnings)
        }
        defer { free(coefficients) }
        guard let coefficients, blocks >= 0, warnings == 0 else { return nil }
        var result: [Int16] = []
        result.reserveCapacity(blocks * (last + 1))
        for block in 0..<blocks {
            for k in 0...last { result.append(coefficients[block * 64 + k]) }
        }
        return result
    }
}
