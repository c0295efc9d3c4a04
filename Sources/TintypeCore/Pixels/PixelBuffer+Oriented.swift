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

    /// Writes each stored pixel to its place. Goes by blocks of 32 × 32, so that with exchanged sides the rows of the
    /// target stay in the first-level cache.
    private func copy<Pixel: BitwiseCopyable>(
        as: Pixel.Type, into target: borrowing MutablePixelBuffer, _ orientation: Orientation
    ) {
        let pixel = MemoryLayout<Pixel>.stride
        let row = target.bytesPerRow
        let lastX = target.width - 1
        let lastY = target.height - 1
        // Where stored (0, 0) goes, and how far one step along a stored row and down a stored column leads.
        let (origin, alongRow, downColumn) =
            switch orientation {
            case .up: (0, pixel, row)
            case .upMirrored: (lastX * pixel, -pixel, row)
            case .down: (lastX * pixel + lastY * row, -pixel, -row)
            case .downMirrored: (lastY * row, pixel, -row)
            case .leftMirrored: (0, row, pixel)
            case .right: (lastX * pixel, row, -pixel)
            case .rightMirrored: (lastX * pixel + lastY * row, -row, -pixel)
            case .left: (lastY * row, -row, pixel)
            }
        let destination = target.row(0)
        let block = 32
        withUnsafeBytes { source in
            guard let base = source.baseAddress else { return }
            for top in stride(from: 0, to: height, by: block) {
                for left in stride(from: 0, to: width, by: block) {
                    let right = min(left + block, width)
                    for y in top..<min(top + block, height) {
                        var from = base + y * bytesPerRow + left * pixel
                        var to = destination + origin + y * downColumn + left * alongRow
                        for _ in left..<right {
                            to.storeBytes(of: from.load(as: Pixel.self), as: Pixel.self)
                            from += pixel
                            to += alongRow
                        }
                    }
                }
            }
        }
    }
}
