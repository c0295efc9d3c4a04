extension PixelBuffer {
    /// Returns the pixels turned upright; the buffer itself if they already are.
    ///
    /// The pixels of an ``Image`` are always upright. This is for pixels from other sources, such as a camera or another library.
    /// - Parameters:
    ///   - orientation: the orientation of the stored pixels.
    ///   - pool: the memory for the pixels.
    /// - Returns: the upright pixels. Four of the orientations exchange width and height.
    /// - Throws: ``ImageError/Code/outOfMemory``.
    public func oriented(_ orientation: Orientation, pool: PixelBufferPool = .shared) throws(ImageError) -> PixelBuffer
    {
        guard orientation != .up else { return self }
        let target = try MutablePixelBuffer(size: orientation.display(size), format: format, cleared: false, pool: pool)
        switch format {
        case .rgba8: copy(as: UInt32.self, into: target, orientation)
        case .rgba16, .rgbaFloat16: copy(as: UInt64.self, into: target, orientation)
        }
        return target.freeze()
    }

    /// Writes the target row by row. If sides are exchanged, it works in blocks: the part of the source for the target rows of a block, a
    /// cache line in each of its rows, then stays in the first-level cache.
    private func copy<Pixel: BitwiseCopyable>(
        as: Pixel.Type, into target: borrowing MutablePixelBuffer, _ orientation: Orientation
    ) {
        let pixel = MemoryLayout<Pixel>.stride
        let row = bytesPerRow
        let lastX = (width - 1) * pixel
        let lastY = (height - 1) * row
        // The source position of target (0, 0), and the source distances of a step along a target row and down a target column.
        let (origin, alongRow, downColumn) =
            switch orientation {
            case .up: (0, pixel, row)
            case .upMirrored: (lastX, -pixel, row)
            case .down: (lastX + lastY, -pixel, -row)
            case .downMirrored: (lastY, pixel, -row)
            case .leftMirrored: (0, row, pixel)
            case .right: (lastY, -row, pixel)
            case .rightMirrored: (lastX + lastY, -row, -pixel)
            case .left: (lastX, row, -pixel)
            }
        let block =
            orientation.swapsSides
            ? (width: linesThatStay, height: 64 / pixel) : (width: target.width, height: target.height)
        withUnsafeBytes { source in
            guard let base = source.baseAddress else { return }
            for top in stride(from: 0, to: target.height, by: block.height) {
                for left in stride(from: 0, to: target.width, by: block.width) {
                    let count = min(block.width, target.width - left)
                    for y in top..<min(top + block.height, target.height) {
                        let from = base + origin + y * downColumn + left * alongRow
                        let to = target.row(y) + left * pixel
                        Self.copy(count, from: from, step: alongRow, to: to.assumingMemoryBound(to: Pixel.self))
                    }
                }
            }
        }
    }

    /// The source rows of a block. Their lines compete for few places in the cache if rows have a multiple of 512 bytes.
    private var linesThatStay: Int {
        // 64 places for 8 lines each, half of which are for the target.
        let places = 64 >> min(6, (bytesPerRow / 64).trailingZeroBitCount)
        return max(16, min(64, places * 4))
    }

    /// Copies pixels at a distance of `step` bytes to consecutive positions.
    @inline(__always)
    private static func copy<Pixel: BitwiseCopyable>(
        _ count: Int, from: UnsafeRawPointer, step: Int, to: UnsafeMutablePointer<Pixel>
    ) {
        // With a constant step, the compiler vectorizes the loop.
        if step == MemoryLayout<Pixel>.stride {
            to.update(from: from.assumingMemoryBound(to: Pixel.self), count: count)
        } else if step == -MemoryLayout<Pixel>.stride {
            let last = from.assumingMemoryBound(to: Pixel.self)
            for index in 0..<count { to[index] = last[-index] }
        } else {
            for index in 0..<count { to[index] = from.load(fromByteOffset: index &* step, as: Pixel.self) }
        }
    }
}
