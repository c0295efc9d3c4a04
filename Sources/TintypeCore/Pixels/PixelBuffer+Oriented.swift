extension PixelBuffer {
    /// The pixels turned upright; the buffer itself where they are already.
    public func oriented(_ orientation: Orientation, pool: PixelBufferPool = .shared) throws(ImageError) -> PixelBuffer
    {
        guard orientation != .up else { return self }
        let target = try MutablePixelBuffer(size: orientation.display(size), format: format, pool: pool)
        switch format {
        case .rgba8: copy(as: UInt32.self, into: target, orientation)
        case .rgba16, .rgbaFloat16: copy(as: UInt64.self, into: target, orientation)
        }
        return target.freeze()
    }

    /// Writes the target row by row, within blocks when sides are exchanged: the part of the source that 16 target rows are
    /// read from, one cache line in each of 64 rows, stays in the first-level cache until it is used up.
    private func copy<Pixel: BitwiseCopyable>(
        as: Pixel.Type, into target: borrowing MutablePixelBuffer, _ orientation: Orientation
    ) {
        let pixel = MemoryLayout<Pixel>.stride
        let row = bytesPerRow
        let lastX = (width - 1) * pixel
        let lastY = (height - 1) * row
        // Where target (0, 0) is stored, and how far one step along a target row and down a target column leads.
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
            orientation.swapsSides ? (width: 64, height: 64 / pixel) : (width: target.width, height: target.height)
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

    /// Copies pixels that are `step` bytes apart to successive places.
    @inline(__always)
    private static func copy<Pixel: BitwiseCopyable>(
        _ count: Int, from: UnsafeRawPointer, step: Int, to: UnsafeMutablePointer<Pixel>
    ) {
        // With a constant step the compiler makes vectors of it.
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
