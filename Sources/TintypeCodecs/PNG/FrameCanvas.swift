internal import TintypeCore

/// What the frames of an animated PNG are drawn on (PNG, third edition, section 11.3.2.2).
final class FrameCanvas {
    private var pixels: MutablePixelBuffer
    private let pool: PixelBufferPool
    private var drawn: PNGAnimation.Frame?
    /// What was under the frame that was drawn last, if it is to come back.
    private var covered: PixelBuffer?

    init(size: PixelSize, pool: PixelBufferPool) throws(ImageError) {
        pixels = try MutablePixelBuffer(size: size, cleared: true, pool: pool)
        self.pool = pool
    }

    /// Lays a frame on the canvas.
    func draw(_ source: PixelBuffer, _ frame: PNGAnimation.Frame) throws(ImageError) {
        covered = frame.disposal == .previous ? try copy(frame) : nil
        drawn = frame
        for y in 0..<frame.size.height {
            let target = pixels.row(frame.y + y) + frame.x * 4
            source.withRow(y) { row in
                guard let row = row.baseAddress else { return }
                if frame.blends {
                    Self.blend(row, over: target, count: frame.size.width)
                } else {
                    target.copyMemory(from: row, byteCount: frame.size.width * 4)
                }
            }
        }
    }

    /// Does with the part that was drawn last what its frame says.
    func dispose(_ disposal: PNGAnimation.Disposal) {
        guard let frame = drawn, disposal != .none else { return }
        for y in 0..<frame.size.height {
            let target = pixels.row(frame.y + y) + frame.x * 4
            if disposal == .previous, let covered {
                covered.withRow(y) { row in
                    if let row = row.baseAddress { target.copyMemory(from: row, byteCount: frame.size.width * 4) }
                }
            } else {
                target.initializeMemory(as: UInt8.self, repeating: 0, count: frame.size.width * 4)
            }
        }
    }

    /// The canvas as it is now, upright and in the size that is wanted.
    func picture(
        _ output: PixelSize, _ orientation: Orientation, _ context: DecodeContext
    ) throws(ImageError) -> PixelBuffer {
        var sink = try RowSink(stored: pixels.size, output: output, orientation: orientation, context: context)
        for y in 0..<pixels.height {
            sink.rowToFill().copyMemory(from: pixels.row(y), byteCount: pixels.width * 4)
            try sink.commitRow()
        }
        return try sink.finish()
    }

    private func copy(_ frame: PNGAnimation.Frame) throws(ImageError) -> PixelBuffer {
        let copy = try MutablePixelBuffer(size: frame.size, pool: pool)
        for y in 0..<frame.size.height {
            copy.row(y).copyMemory(from: pixels.row(frame.y + y) + frame.x * 4, byteCount: frame.size.width * 4)
        }
        return copy.freeze()
    }

    /// Porter and Duff's "over", premultiplied: source + destination × (1 - source alpha).
    private static func blend(_ source: UnsafeRawPointer, over target: UnsafeMutableRawPointer, count: Int) {
        for offset in stride(from: 0, to: count * 4, by: 4) {
            let over = source.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self)
            if over.w == 0 { continue }
            if over.w == 255 {
                target.storeBytes(of: over, toByteOffset: offset, as: SIMD4<UInt8>.self)
                continue
            }
            let under = target.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self)
            let product = SIMD4<UInt16>(truncatingIfNeeded: under) &* UInt16(255 - over.w) &+ 128
            let rest = (product &+ (product &>> 8)) &>> 8
            target.storeBytes(
                of: over &+ SIMD4<UInt8>(truncatingIfNeeded: rest), toByteOffset: offset, as: SIMD4<UInt8>.self)
        }
    }
}
