internal import CResample

/// Half-precision numbers (IEEE 754 binary16), by kernels: the compiler's own conversion is a call for each on most x86-64.
package enum HalfFloat {
    /// The kernels for this processor.
    private static let kernels = DeepRowResampler.kernels[0]

    /// Takes half-precision numbers to single precision.
    package static func unpack(_ row: UnsafeRawPointer, to components: UnsafeMutablePointer<Float>, count: Int) {
        kernels.from_half(components, row.assumingMemoryBound(to: UInt16.self), count)
    }

    /// Takes pixels of four components to half precision, rounded to the nearest, ties to even. Alpha is limited to 0 to 1,
    /// colour to what is finite; what is not a number becomes 0.
    package static func pack(_ components: UnsafePointer<Float>, to row: UnsafeMutableRawPointer, pixels: Int) {
        kernels.to_half(row.assumingMemoryBound(to: UInt16.self), components, pixels)
    }
}
