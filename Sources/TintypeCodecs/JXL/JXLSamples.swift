#if JXL
internal import CJXL
internal import TintypeImages

/// The straight components of frames as libjxl takes them, without alpha if the image has none.
struct JXLSamples {
    enum Kind {
        case uint8, uint16, half
        /// High dynamic range, in 16 bits of PQ.
        case pq
    }

    let kind: Kind
    private let hasAlpha: Bool

    /// All frames of an image have the same format.
    init(_ image: Image) {
        kind =
            switch image.pixels.format {
            case .rgba8: .uint8
            case .rgba16: .uint16
            case .rgbaFloat16: image.isHighDynamicRange ? .pq : .half
            }
        hasAlpha = image.hasAlpha
    }

    var bits: UInt32 { kind == .uint8 ? 8 : 16 }
    var exponentBits: UInt32 { kind == .half ? 5 : 0 }
    var type: JxlDataType {
        switch kind {
        case .uint8: JXL_TYPE_UINT8
        case .uint16, .pq: JXL_TYPE_UINT16
        case .half: JXL_TYPE_FLOAT16
        }
    }

    func bytes(of pixels: PixelBuffer) -> [UInt8] {
        let bytesPerPixel = pixels.format.bytesPerPixel
        let kept = hasAlpha ? bytesPerPixel : bytesPerPixel / 4 * 3
        let (width, height) = (pixels.width, pixels.height)
        return [UInt8](unsafeUninitializedCapacity: width * height * kept) { bytes, count in
            count = width * height * kept
            guard var target = UnsafeMutableRawPointer(bytes.baseAddress) else { return }
            withUnsafeTemporaryAllocation(byteCount: width * bytesPerPixel, alignment: 16) { scratch in
                guard let row = scratch.baseAddress else { return }
                for y in 0..<height {
                    writeStraight(pixels, y, to: row)
                    if hasAlpha {
                        target.copyMemory(from: row, byteCount: width * kept)
                        target += width * kept
                    } else {
                        for x in 0..<width {
                            target.copyMemory(from: row + x * bytesPerPixel, byteCount: kept)
                            target += kept
                        }
                    }
                }
            }
        }
    }

    private func writeStraight(_ pixels: PixelBuffer, _ y: Int, to row: UnsafeMutableRawPointer) {
        if kind == .uint16 || kind == .pq {
            return pixels.writeStraightDeepRow(y, to: row.assumingMemoryBound(to: UInt16.self))
        }
        pixels.withRow(y) { bytes in
            if let base = bytes.baseAddress { row.copyMemory(from: base, byteCount: bytes.count) }
        }
        if hasAlpha { Premultiplication.unpremultiply(row, count: pixels.width, format: pixels.format) }
    }
}
#endif
