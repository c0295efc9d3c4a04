internal import CUnfilter

/// The loops over every byte of a PNG's rows.
typealias PNGKernels = cunfilter_kernels

extension PNGKernels {
    /// The kernels for this processor's instruction sets, best first.
    static let available: [PNGKernels] = {
        var kernels = [PNGKernels](repeating: PNGKernels(), count: 2)
        let count = cunfilter_available(&kernels)
        return Array(kernels.prefix(Int(count)))
    }()
}
