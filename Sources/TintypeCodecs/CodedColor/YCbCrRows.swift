#if AVIF || HEIF
internal import TintypeImages

/// Makes rows of opaque RGBA of a picture in planes.
///
/// Chroma that pixels share is enlarged linearly, as lying in their middle: 9, 3, 3 and 1 sixteenths of the four next
/// numbers. Nothing is rounded before the end.
struct YCbCrRows: ~Copyable {
    private let picture: PlanarPicture
    private let matrix: YCbCrMatrix
    /// Enlarged chroma, less the chroma of gray: blue, red.
    private let differences: (blue: UnsafeMutablePointer<Int32>, red: UnsafeMutablePointer<Int32>)
    /// A row of chroma between two others, with an additional number at both ends.
    private let between: UnsafeMutablePointer<Int32>

    /// - Parameter picture: a consistent picture.
    init(_ picture: PlanarPicture, matrix: YCbCrMatrix) {
        self.picture = picture
        self.matrix = matrix
        let count = picture.size.width + 2
        differences = (.allocate(capacity: count), .allocate(capacity: count))
        between = .allocate(capacity: count)
        differences.blue.initialize(repeating: 0, count: count)
        differences.red.initialize(repeating: 0, count: count)
        between.initialize(repeating: 0, count: count)
    }

    deinit {
        differences.blue.deallocate()
        differences.red.deallocate()
        between.deallocate()
    }

    /// A part of a row, with 8 bits to a component. The picture has 8 bits.
    func convert(_ y: Int, from x: Int, count: Int, to row: UnsafeMutableRawPointer) {
        enlarge(y, UInt8.self)
        let luma = numbers(picture.luma, y, UInt8.self) + x
        let target = row.assumingMemoryBound(to: UInt32.self)
        combine(luma, from: x, count: count) { index, red, green, blue in
            target[index] =
                UInt32(truncatingIfNeeded: red) | UInt32(truncatingIfNeeded: green) << 8
                | UInt32(truncatingIfNeeded: blue) << 16 | 0xFF00_0000
        }
    }

    /// A part of a row, with the picture's own bits in 16. The picture has more than 8 bits.
    func convert(_ y: Int, from x: Int, count: Int, toDeep row: UnsafeMutablePointer<UInt16>) {
        enlarge(y, UInt16.self)
        let luma = numbers(picture.luma, y, UInt16.self) + x
        let opaque = UInt16(truncatingIfNeeded: matrix.maximum)
        combine(luma, from: x, count: count) { index, red, green, blue in
            row[index * 4] = UInt16(truncatingIfNeeded: red)
            row[index * 4 + 1] = UInt16(truncatingIfNeeded: green)
            row[index * 4 + 2] = UInt16(truncatingIfNeeded: blue)
            row[index * 4 + 3] = opaque
        }
    }

    /// The products of the largest numbers, of 12 bits and 4 behind the point, are under 2³⁰; sums of three do not overflow
    /// where they matter, and wrap in pictures of nonsense.
    @inline(__always)
    private func combine<Number: FixedWidthInteger>(
        _ luma: UnsafePointer<Number>, from x: Int, count: Int, _ write: (Int, Int32, Int32, Int32) -> Void
    ) {
        let (blues, reds) = (differences.blue + x, differences.red + x)
        let (r, g, b) = (matrix.red, matrix.green, matrix.blue)
        let (black, maximum) = (matrix.black, matrix.maximum)
        let half = Int32(1) << (YCbCrMatrix.bits - 1)
        @inline(__always) func clamped(_ sum: Int32) -> Int32 {
            min(max((sum &+ half) &>> YCbCrMatrix.bits, 0), maximum)
        }
        for index in 0..<count {
            let y = Int32(truncatingIfNeeded: luma[index]) &- black
            let (cb, cr) = (blues[index], reds[index])
            write(
                index, clamped(r.x &* y &+ r.y &* cb &+ r.z &* cr), clamped(g.x &* y &+ g.y &* cb &+ g.z &* cr),
                clamped(b.x &* y &+ b.y &* cb &+ b.z &* cr))
        }
    }

    // MARK: Chroma

    private func numbers<Number>(_ plane: PlanarPicture.Plane, _ y: Int, _: Number.Type) -> UnsafePointer<Number> {
        (plane.base + y * plane.bytesPerRow).assumingMemoryBound(to: Number.self)
    }

    @inline(__always)
    private func enlarge<Number: FixedWidthInteger>(_ y: Int, _: Number.Type) {
        guard let chroma = picture.chroma else { return }
        enlarge(chroma.blue, y, Number.self, into: differences.blue)
        enlarge(chroma.red, y, Number.self, into: differences.red)
    }

    @inline(__always)
    private func enlarge<Number: FixedWidthInteger>(
        _ plane: PlanarPicture.Plane, _ y: Int, _: Number.Type, into target: UnsafeMutablePointer<Int32>
    ) {
        let gray = matrix.gray << YCbCrMatrix.chromaBits
        let width = picture.size.width
        guard picture.layout != .full else {
            let row = numbers(plane, y, Number.self)
            for x in 0..<width {
                target[x] = Int32(truncatingIfNeeded: row[x]) << YCbCrMatrix.chromaBits &- gray
            }
            return
        }
        // Two rows share their chroma: the next row of chroma is above for an even row, below for an odd one.
        let sharesRows = picture.layout == .half
        let own = sharesRows ? y / 2 : y
        let neighbour = sharesRows ? min(max(0, y % 2 == 0 ? own - 1 : own + 1), plane.size.height - 1) : own
        let near = numbers(plane, own, Number.self)
        let far = numbers(plane, neighbour, Number.self)
        let count = (width + 1) / 2
        let middle = between + 1
        for x in 0..<count {
            middle[x] = 3 &* Int32(truncatingIfNeeded: near[x]) &+ Int32(truncatingIfNeeded: far[x])
        }
        middle[-1] = middle[0]
        middle[count] = middle[count - 1]
        for x in 0..<count {
            let weighted = 3 &* middle[x] &- gray
            target[2 &* x] = weighted &+ middle[x &- 1]
            target[2 &* x &+ 1] = weighted &+ middle[x &+ 1]
        }
    }
}
#endif
