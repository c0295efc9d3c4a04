internal import CKernels
internal import TintypeImages

/// Rounds components of 16 bits to 8.
enum DepthRounding {
    /// Writes the nearest numbers of 8 bits.
    ///
    /// - Parameters:
    ///   - source: RGBA of 16 bits.
    ///   - row: Room for as many pixels of RGBA of 8 bits.
    ///   - count: The number of pixels.
    static func round(_ source: UnsafePointer<UInt16>, to row: UnsafeMutableRawPointer, count: Int) {
        RowKernels.available[0].narrow(row.assumingMemoryBound(to: UInt8.self), source, 16, count * 4)
    }

    /// Returns the nearest number of 8 bits: `round(v / 257)`, exactly.
    @inline(__always)
    static func rounded(_ number: UInt16) -> UInt8 {
        UInt8(truncatingIfNeeded: (UInt32(number) &* 255 &+ 32_895) &>> 16)
    }
}
