/// The environment of a transformer: limits, memory, and a check for cancellation.
///
/// Read ``current`` in ``ImageTransformer/transform(_:)``. A load provides its manager's limits and memory, and ends the work
/// when the result is no longer needed.
public struct TransformContext: Sendable {
    /// The limits on the images that transformers create.
    public var limits: DecodeLimits
    /// The memory for pixels.
    public var pool: PixelBufferPool
    private let isCancelled: @Sendable () -> Bool

    /// The environment of the transformer that is running, or a context with default limits.
    @TaskLocal public static var current = TransformContext()

    /// Creates an environment.
    /// - Parameters:
    ///   - limits: the limits on the images that transformers create.
    ///   - pool: the memory for pixels.
    ///   - isCancelled: returns true once the result is no longer needed. Without it, the current task is asked.
    public init(
        limits: DecodeLimits = DecodeLimits(), pool: PixelBufferPool = .shared,
        isCancelled: @escaping @Sendable () -> Bool = { Task.isCancelled }
    ) {
        self.limits = limits
        self.pool = pool
        self.isCancelled = isCancelled
    }

    /// Ends the work by throwing an error if its result is no longer needed. Transformers call this at least every few hundred
    /// rows.
    /// - Throws: ``ImageError/Code/cancelled``
    public func checkCancellation() throws(ImageError) {
        if isCancelled() { throw ImageError.cancelled(stage: .transform, while: "transforming") }
    }

    /// Checks for cancellation before rows 0, 64, 128 and so on.
    func checkCancellation(row: Int) throws(ImageError) {
        if row % 64 == 0 { try checkCancellation() }
    }

    /// Checks a size against the limits.
    /// - Throws: ``ImageError/Code/limitExceeded``
    func check(_ size: PixelSize, format: PixelFormat) throws(ImageError) {
        let (bytes, overflow) = size.pixelCount.multipliedReportingOverflow(by: format.bytesPerPixel)
        guard size.pixelCount <= limits.maximumPixels, !overflow, bytes <= limits.maximumBytes.bytes else {
            throw ImageError(
                .limitExceeded, stage: .transform,
                reason: "the result would have \(size) pixels, over the limit of \(limits.maximumPixels) pixels and "
                    + "\(limits.maximumBytes)")
        }
    }

    /// Allocates the pixels of a result after checking its size against the limits. Its contents are undefined: transformers write
    /// every pixel.
    /// - Throws: ``ImageError/Code/limitExceeded`` and ``ImageError/Code/outOfMemory``.
    func buffer(_ size: PixelSize, format: PixelFormat) throws(ImageError) -> MutablePixelBuffer {
        try check(size, format: format)
        return try MutablePixelBuffer(size: size, format: format, cleared: false, pool: pool)
    }

    /// Allocates working memory for components.
    /// - Throws: ``ImageError/Code/outOfMemory``
    func scratch(floats count: Int) throws(ImageError) -> ScratchBytes {
        guard let scratch = ScratchBytes(count * MemoryLayout<Float>.stride, cleared: false, pool: pool) else {
            throw ImageError(
                .outOfMemory, stage: .transform, reason: "the system has no \(ByteCount(count * 4)) to transform in")
        }
        return scratch
    }
}
