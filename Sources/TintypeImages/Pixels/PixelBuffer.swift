/// Immutable pixels: a size, a format, and rows that start at multiples of 64 bytes.
///
/// To create a buffer, fill a ``MutablePixelBuffer`` and freeze it. Its memory returns to the pool when the last image that uses it is
/// released.
public final class PixelBuffer: Sendable {
    /// The size, in pixels.
    public let size: PixelSize
    /// The components of a pixel.
    public let format: PixelFormat
    /// The distance between the starts of two rows, in bytes: a multiple of 64, at least the length of a row.
    public let bytesPerRow: Int
    private let memory: PixelMemory

    init(memory: PixelMemory, size: PixelSize, format: PixelFormat, bytesPerRow: Int) {
        self.memory = memory
        self.size = size
        self.format = format
        self.bytesPerRow = bytesPerRow
    }

    /// Creates a buffer of mapped memory that is no longer written. It is unmapped with the buffer, or at once if the pixels don't fit, and
    /// the result is `nil`.
    package convenience init?(
        mapped base: UnsafeMutableRawPointer, count: Int, size: PixelSize, format: PixelFormat
    ) {
        let memory = PixelMemory(base: base, capacity: count, pool: nil)
        guard let layout = PixelLayout(size: size, format: format), layout.byteCount <= count else { return nil }
        self.init(memory: memory, size: size, format: format, bytesPerRow: layout.bytesPerRow)
    }

    /// The number of columns.
    package var width: Int { size.width }
    /// The number of rows.
    package var height: Int { size.height }

    /// The cost of the buffer in a cache: `bytesPerRow × height`.
    package var byteCount: Int { bytesPerRow * height }

    /// Gives access to all rows. The bytes of a row after its pixels are undefined.
    ///
    /// ```swift
    /// let red = image.pixels.withUnsafeBytes { bytes in
    ///     bytes[3 * image.pixels.bytesPerRow]  // row 3, column 0 of 8-bit RGBA
    /// }
    /// ```
    /// - Parameter body: a closure that reads the bytes. The pointer is valid only during the call.
    /// - Throws: the error of the closure.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: memory.base, count: byteCount))
    }

    /// Gives access to the pixels of a row.
    /// - Parameters:
    ///   - row: the row, counted from 0 at the top.
    ///   - body: a closure that reads the bytes. The pointer is valid only during the call.
    /// - Throws: the error of the closure.
    public func withRow<Result, Failure: Error>(
        _ row: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(row >= 0 && row < height, "row \(row) of \(height)")
        return try body(
            UnsafeRawBufferPointer(start: memory.base + row * bytesPerRow, count: width * format.bytesPerPixel))
    }

    /// Returns the four components of a pixel of an 8-bit buffer. ``Image/color(x:y:)`` supports every format.
    /// - Parameters:
    ///   - x: the column, counted from 0 on the left.
    ///   - y: the row, counted from 0 at the top.
    public subscript(x: Int, y: Int) -> SIMD4<UInt8> {
        precondition(format == .rgba8 && x >= 0 && x < width, "column \(x) of \(width), \(format)")
        return withRow(y) { $0.loadUnaligned(fromByteOffset: x * 4, as: SIMD4<UInt8>.self) }
    }
}

extension PixelBuffer: Equatable {
    /// True if size, format and every pixel are the same.
    public static func == (left: PixelBuffer, right: PixelBuffer) -> Bool {
        guard left !== right else { return true }
        guard left.size == right.size, left.format == right.format else { return false }
        return (0..<left.height).allSatisfy { row in
            left.withRow(row) { a in right.withRow(row) { b in a.elementsEqual(b) } }
        }
    }
}
