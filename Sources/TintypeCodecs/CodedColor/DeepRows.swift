#if AVIF || HEIF || JXL
internal import CKernels
internal import TintypeImages

/// Converts rows of straight RGBA of 8 to 16 bits to premultiplied RGBA in the requested colors and format.
struct DeepRows {
    private let color: CodedColor
    private let bits: UInt32
    /// The greatest number that the next step takes: of 8 bits, the 12 of tone mapping, or 16.
    private let maximum: UInt32
    private let isDeep: Bool
    private let kernels = RowKernels.available[0]

    init(bits: Int, color: CodedColor) {
        self.color = color
        self.bits = UInt32(bits)
        isDeep = color.toneMapping != nil || color.takesDeepRows
        maximum = color.takesDeepRows ? 65_535 : color.toneMapping != nil ? (1 << UInt32(ToneMapping.bits)) - 1 : 255
    }

    /// Converts a row whose numbers have the bits that were stated.
    func convert(
        _ source: UnsafePointer<UInt16>, to row: UnsafeMutableRawPointer, count: Int, premultiplies: Bool
    ) {
        if isDeep {
            convert(count: count, to: row, premultiplies) { kernels.scale($0, source, bits, maximum, count * 4) }
        } else {
            kernels.narrow(row.assumingMemoryBound(to: UInt8.self), source, bits, count * 4)
            finish(row, count: count, premultiplies)
        }
    }

    /// Converts a row of 8 bits.
    func convert(bytes source: UnsafeRawPointer, to row: UnsafeMutableRawPointer, count: Int, premultiplies: Bool) {
        if isDeep {
            let bytes = source.assumingMemoryBound(to: UInt8.self)
            convert(count: count, to: row, premultiplies) { kernels.deepen($0, bytes, maximum, count * 4) }
        } else {
            row.copyMemory(from: source, byteCount: count * 4)
            finish(row, count: count, premultiplies)
        }
    }

    private func convert(
        count: Int, to row: UnsafeMutableRawPointer, _ premultiplies: Bool,
        _ fill: (UnsafeMutablePointer<UInt16>) -> Void
    ) {
        withUnsafeTemporaryAllocation(of: UInt16.self, capacity: count * 4) { deep in
            guard let base = deep.baseAddress else { return }
            fill(base)
            if let toneMapping = color.toneMapping {
                toneMapping.convert(base, to: row, count: count)
                if premultiplies { Premultiplication.premultiply(row, count: count) }
            } else {
                color.finish(base, to: row, count: count, premultiplies: premultiplies)
            }
        }
    }

    private func finish(_ row: UnsafeMutableRawPointer, count: Int, _ premultiplies: Bool) {
        color.convert(row, count: count)
        if premultiplies { Premultiplication.premultiply(row, count: count) }
    }
}
#endif
