#if HEIF || JXL
/// Takes rows of straight RGBA of 8 to 16 bits to straight RGBA of 8 bits in the colours that are wanted.
struct DeepRows {
    private let color: CodedColor
    /// For tone mapping: what each number is in its 12 bits. Else: in 8 bits. Both rounded to the nearest.
    private let numbers: [UInt16]
    private let isToneMapped: Bool

    init(bits: Int, color: CodedColor) {
        self.color = color
        isToneMapped = color.toneMapping != nil
        let last = (1 << bits) - 1
        let target = isToneMapped ? (1 << ToneMapping.bits) - 1 : 255
        numbers = (0...last).map { UInt16(($0 * target + last / 2) / last) }
    }

    func convert(_ source: UnsafePointer<UInt16>, to row: UnsafeMutableRawPointer, count: Int) {
        convert(count: count, to: row) { min(Int(source[$0]), numbers.count - 1) }
    }

    /// The same for sources of 8 bits.
    func convert(bytes source: UnsafeRawPointer, to row: UnsafeMutableRawPointer, count: Int) {
        if isToneMapped {
            let bytes = source.assumingMemoryBound(to: UInt8.self)
            convert(count: count, to: row) { Int(bytes[$0]) }
        } else {
            row.copyMemory(from: source, byteCount: count * 4)
            color.convert(row, count: count)
        }
    }

    @inline(__always)
    private func convert(count: Int, to row: UnsafeMutableRawPointer, _ component: (Int) -> Int) {
        if let toneMapping = color.toneMapping {
            withUnsafeTemporaryAllocation(of: UInt16.self, capacity: count * 4) { deep in
                for index in 0..<count * 4 { deep.initializeElement(at: index, to: numbers[component(index)]) }
                guard let base = deep.baseAddress else { return }
                toneMapping.convert(base, to: row, count: count)
            }
        } else {
            let target = row.assumingMemoryBound(to: UInt8.self)
            for index in 0..<count * 4 { target[index] = UInt8(truncatingIfNeeded: numbers[component(index)]) }
            color.convert(row, count: count)
        }
    }
}
#endif
