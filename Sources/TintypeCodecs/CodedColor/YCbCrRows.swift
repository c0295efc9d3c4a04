#if AVIF || HEIF
internal import CKernels
internal import TintypeImages

/// Makes rows of opaque RGBA of a picture in planes.
///
/// Chroma that pixels share is enlarged linearly, as lying in their middle: 9, 3, 3 and 1 sixteenths of the four next
/// numbers. Nothing is rounded before the end.
struct YCbCrRows: ~Copyable {
    private let picture: PlanarPicture
    private let matrix: YCbCrMatrix
    private let kernels: crows_planes
    /// Enlarged chroma, less the chroma of gray: blue, red.
    private let differences: (blue: UnsafeMutablePointer<Int32>, red: UnsafeMutablePointer<Int32>)
    /// A row of chroma between two others, with an additional number at both ends.
    private let between: UnsafeMutablePointer<Int32>

    /// - Parameter picture: a consistent picture.
    init(_ picture: PlanarPicture, matrix: YCbCrMatrix, kernels: RowKernels = RowKernels.available[0]) {
        self.picture = picture
        self.matrix = matrix
        self.kernels = picture.bits > 8 ? kernels.words : kernels.bytes
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

    /// Writes a part of a row: components of 8 bits, or of the picture's own bits in 16 if it has more.
    func convert(_ y: Int, from x: Int, count: Int, to row: UnsafeMutableRawPointer) {
        if let chroma = picture.chroma {
            enlarge(chroma.blue, y, into: differences.blue)
            enlarge(chroma.red, y, into: differences.red)
        }
        let luma = numbers(picture.luma, y) + x * (picture.bits > 8 ? 2 : 1)
        kernels.combine(row, luma, differences.blue + x, differences.red + x, matrix, count)
    }

    private func numbers(_ plane: PlanarPicture.Plane, _ y: Int) -> UnsafeRawPointer {
        plane.base + y * plane.bytesPerRow
    }

    private func enlarge(_ plane: PlanarPicture.Plane, _ y: Int, into target: UnsafeMutablePointer<Int32>) {
        let width = picture.size.width
        guard picture.layout != .full else {
            return kernels.subtract(target, numbers(plane, y), matrix.gray, width)
        }
        // Two rows share their chroma: the next row of chroma is above for an even row, below for an odd one.
        let sharesRows = picture.layout == .half
        let own = sharesRows ? y / 2 : y
        let neighbor = sharesRows ? min(max(0, y % 2 == 0 ? own - 1 : own + 1), plane.size.height - 1) : own
        kernels.enlarge(
            target, between, numbers(plane, own), numbers(plane, neighbor), matrix.gray, (width + 1) / 2)
    }
}
#endif
