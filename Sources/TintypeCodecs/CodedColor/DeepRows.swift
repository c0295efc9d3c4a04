#if AVIF || HEIF || JXL
internal import TintypeImages

/// Converts rows of straight RGBA of 8 to 16 bits to premultiplied RGBA in the requested colors and format.
struct DeepRows {
    private let color: CodedColor
    /// The nearest value of each number in the bits that the next step takes: 8, the 12 of tone mapping, or 16.
    private let numbers: [UInt16]
    private let isDeep: Bool

    init(bits: Int, color: CodedColor) {
        self.color = color
        isDeep = color.toneMapping != nil || color.takesDeepRows
        let last = (1 << bits) - 1
        let target = color.takesDeepRows ? 65_535 : color.toneMapping != nil ? (1 << ToneMapping.bits) - 1 : 255
        numbers = (0...last).map { UInt16(($0 * target + last / 2) / last) }
    }

    /// Converts a row whose numbers have the bits that were stated.
    func convert(
        _ source: UnsafePointer<UInt16>, to row: UnsafeMutableRawPointer, count: Int, premultiplies: Bool
    ) {
        convert(count: count, to: row, premultiplies) { min(Int(source[$0]), numbers.count - 1) }
    }

    /// Converts a row of 8 bits.
    func convert(bytes source: UnsafeRawPointer, to row: UnsafeMutableRawPointer, count: Int, premultiplies: Bool) {
        if isDeep {
            let bytes = source.assumingMemoryBound(to: UInt8.self)
            convert(count: count, to: row, premultiplies) { Int(bytes[$0]) }
        } else {
            row.copyMemory(from: source, byteCount: count * 4)
            finish(row, count: count, premultiplies)
        }
    }

    @inline(__always)
    private func convert(
        count: Int, to row: UnsafeMutableRawPointer, _ premultiplies: Bool, _ component: (Int) -> Int
    ) {
        guard isDeep else {
            let target = row.assumingMemoryBound(to: UInt8.self)
            for index in 0..<count * 4 { target[index] = UInt8(truncatingIfNeeded: numbers[component(index)]) }
            return finish(row, count: count, premultiplies)
        }
        withUnsafeTemporaryAllocation(of: UInt16.self, capacity: count * 4) { deep in
            for index in 0..<count * 4 { deep.initializeElement(at: index, to: numbers[component(index)]) }
            guard let base = deep.baseAddress else { return }
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
