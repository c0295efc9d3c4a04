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
}
