/// Pixels that a single owner is writing. ``freeze()`` turns them into a ``PixelBuffer``, without a copy.
public struct MutablePixelBuffer: ~Copyable {
    /// The size, in pixels.
    public let size: PixelSize
    /// The components of a pixel.
    public let format: PixelFormat
    /// The distance between the starts of two rows, in bytes.
    public let bytesPerRow: Int
    private let memory: PixelMemory

    /// Allocates pixels from a pool, transparent black by default.
    ///
    /// A pool reuses memory that may contain the pixels of an earlier image. Leave the buffer cleared if a C library fills it, because the
    /// library may not write every pixel of a damaged file.
    /// - Parameters:
    ///   - size: the size in pixels.
    ///   - format: the format of the pixels.
    ///   - cleared: false to leave the contents undefined, for Swift code that writes every pixel.
    ///   - pool: the memory for the pixels.
    /// - Throws: ``ImageError/Code/limitExceeded`` for a size that is empty or cannot fit into memory, and
    ///   ``ImageError/Code/outOfMemory``.
    public init(
        size: PixelSize, format: PixelFormat = .rgba8, cleared: Bool = true, pool: PixelBufferPool = .shared
    ) throws(ImageError) {
        guard let layout = PixelLayout(size: size, format: format) else {
            throw ImageError(.limitExceeded, stage: .decode, reason: "a pixel buffer can't have the size \(size)")
        }
        let bytes = layout.byteCount
        guard let memory = pool.take(bytes, cleared: cleared) else {
            throw ImageError(
                .outOfMemory, stage: .decode,
                reason: "there isn't enough memory for \(size) pixels, which take \(ByteCount(bytes))")
        }
        self.size = size
        self.format = format
        bytesPerRow = layout.bytesPerRow
        self.memory = memory
    }

    /// The number of columns.
    package var width: Int { size.width }
    /// The number of rows.
    package var height: Int { size.height }
    /// The size of the memory, with the gaps between rows.
    package var byteCount: Int { bytesPerRow * height }

    /// Returns the address of a row, which is valid as long as the buffer, or the buffer that it was frozen into, exists.
    /// - Parameter row: the row, counted from 0 at the top.
    public func row(_ row: Int) -> UnsafeMutableRawPointer {
        precondition(row >= 0 && row < height, "row \(row) of \(height)")
        return memory.base + row * bytesPerRow
    }

    /// Calls a closure with the memory of all rows.
    /// - Parameter body: the closure. The pointer is valid only during the call.
    /// - Returns: the result of the closure.
    /// - Throws: the error of the closure.
    public mutating func withUnsafeMutableBytes<Result, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeMutableRawBufferPointer(start: memory.base, count: byteCount))
    }

    /// Lends the bytes of all rows; every access is checked.
    package mutating func withMutableBytes<Result, Failure: Error>(
        _ body: (inout MutableRawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var bytes = UnsafeMutableRawBufferPointer(start: memory.base, count: byteCount).mutableBytes
        return try body(&bytes)
    }

    /// Lends the bytes of all rows for reading; every access is checked.
    package borrowing func withBytes<Result, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: memory.base, count: byteCount).bytes)
    }

    /// Ends writing and returns the immutable buffer.
    public consuming func freeze() -> PixelBuffer {
        PixelBuffer(memory: memory, size: size, format: format, bytesPerRow: bytesPerRow)
    }

    /// Returns an immutable copy of the present pixels, for previews of an image that is still being decoded.
    /// - Parameters:
    ///   - rows: the number of written rows, from the top; the others are transparent in the copy.
    ///   - pool: the memory for the copy.
    /// - Throws: ``ImageError/Code/outOfMemory``
    package func snapshot(rows: Int? = nil, pool: PixelBufferPool = .shared) throws(ImageError) -> PixelBuffer {
        let copy = try MutablePixelBuffer(size: size, format: format, cleared: false, pool: pool)
        let written = min(rows ?? height, height) * bytesPerRow
        copy.memory.base.copyMemory(from: memory.base, byteCount: written)
        (copy.memory.base + written).initializeMemory(as: UInt8.self, repeating: 0, count: byteCount - written)
        return copy.freeze()
    }
}
