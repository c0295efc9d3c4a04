internal import CKernels

/// The loops that make rows of pixels of decoded samples.
typealias RowKernels = crows_kernels

extension RowKernels {
    /// The kernels for this processor's instruction sets, best first.
    static let available: [RowKernels] = {
        var kernels = [RowKernels](repeating: RowKernels(), count: 3)
        let count = crows_available(&kernels)
        return Array(kernels.prefix(Int(count)))
    }()

    /// Exchanges the first and the third byte of each pixel of four.
    static func swapRedAndBlue(_ row: UnsafeMutableRawPointer, count: Int) {
        let words = row.assumingMemoryBound(to: UInt32.self)
        for x in 0..<count {
            let word = words[x]
            words[x] = word & 0xFF00_FF00 | word >> 16 & 0xFF | (word & 0xFF) << 16
        }
    }
}
