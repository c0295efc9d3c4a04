/// The memory layout of a ``PixelBuffer``: rows that start at multiples of 64 bytes.
package struct PixelLayout: Sendable, Hashable {
    /// The distance between the beginnings of two rows, in bytes.
    package let bytesPerRow: Int
    /// The bytes of all rows.
    package let byteCount: Int

    /// Creates the layout of a size; `nil` for a size that is empty or can't fit into memory.
    package init?(size: PixelSize, format: PixelFormat) {
        guard !size.isEmpty, size.width < 1 << 40 else { return nil }
        bytesPerRow = (size.width * format.bytesPerPixel + 63) & ~63
        let (bytes, overflow) = bytesPerRow.multipliedReportingOverflow(by: size.height)
        guard !overflow, bytes < 1 << 46 else { return nil }
        byteCount = bytes
    }
}
