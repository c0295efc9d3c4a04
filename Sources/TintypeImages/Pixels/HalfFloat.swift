internal import CKernels

/// Conversion of half-precision numbers (IEEE 754 binary16) with kernels. The compiler's own conversion is a function call for
/// each number on most x86-64 processors.
package enum HalfFloat {
    /// The kernels for this processor.
    private static let kernels = DeepRowResampler.kernels[0]

    /// Converts half-precision numbers to single precision.
    package static func unpack(_ row: UnsafeRawPointer, to components: UnsafeMutablePointer<Float>, count: Int) {
        kernels.from_half(components, row.assumingMemoryBound(to: UInt16.self), count)
    }

    /// Converts pixels of four components to half precision, rounded to the nearest, ties to even. Alpha is limited to 0 to 1,
    /// color to finite numbers; NaN becomes 0.
    package static func pack(_ components: UnsafePointer<Float>, to row: UnsafeMutableRawPointer, pixels: Int) {
        kernels.to_half(row.assumingMemoryBound(to: UInt16.self), components, pixels)
    }
}
