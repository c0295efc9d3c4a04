internal import CKernels

/// Conversion of pixels of any format to premultiplied single-precision components, and back. 1 is the maximum of the integer
/// formats.
enum ComponentRow {
    /// The kernels for this processor's instruction sets, best first.
    static let allKernels: [ctransform_kernels] = {
        var kernels = [ctransform_kernels](repeating: ctransform_kernels(), count: 3)
        let count = ctransform_available(&kernels)
        return Array(kernels.prefix(Int(count)))
    }()

    /// The kernels for this processor.
    static let kernels = allKernels[0]

    /// The components of a row as pixels.
    static func pixels(
        _ floats: UnsafeMutablePointer<Float>, _ count: Int
    ) -> UnsafeMutableBufferPointer<SIMD4<Float>> {
        UnsafeMutableBufferPointer(
            start: UnsafeMutableRawPointer(floats).assumingMemoryBound(to: SIMD4<Float>.self), count: count)
    }

    static func unpack(
        _ row: UnsafeRawPointer, to components: UnsafeMutablePointer<Float>, pixels: Int, format: PixelFormat
    ) {
        switch format {
        case .rgba8: kernels.read8(components, row.assumingMemoryBound(to: UInt8.self), pixels)
        case .rgba16: kernels.read16(components, row.assumingMemoryBound(to: UInt16.self), pixels)
        case .rgbaFloat16: HalfFloat.unpack(row, to: components, count: pixels * 4)
        }
    }

    /// Integer components are rounded to the nearest, alpha is limited to 0 to 1, and color to 0 to alpha. Half-precision
    /// color is limited to finite numbers. NaN becomes 0.
    static func pack(
        _ components: UnsafePointer<Float>, to row: UnsafeMutableRawPointer, pixels: Int, format: PixelFormat
    ) {
        switch format {
        case .rgba8: kernels.write8(row.assumingMemoryBound(to: UInt8.self), components, pixels)
        case .rgba16: kernels.write16(row.assumingMemoryBound(to: UInt16.self), components, pixels)
        case .rgbaFloat16: HalfFloat.pack(components, to: row, pixels: pixels)
        }
    }
}
