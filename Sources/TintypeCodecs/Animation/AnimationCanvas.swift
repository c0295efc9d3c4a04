internal import Glibc
internal import TintypeImages

/// The surface that the frames of an animation are drawn on, on top of each other: premultiplied RGBA of 8 bits.
///
/// A coder draws into ``row(_:)`` and calls ``render()``, which gives the picture at the size that was asked for.
struct AnimationCanvas: ~Copyable {
    let size: PixelSize
    private let output: PixelSize
    private let orientation: Orientation
    private let context: ProcessingContext
    private var pixels: MutablePixelBuffer
    private var saved: MutablePixelBuffer?
    private var savedRect: PixelRect?
    /// The last picture, as long as anybody uses it.
    private weak var shown: PixelBuffer?
    private var isChanged = true

    /// A transparent canvas.
    /// - Parameter output: the size of the pictures, upright.
    init(
        size: PixelSize, output: PixelSize, orientation: Orientation = .up, context: ProcessingContext
    ) throws(ImageError) {
        self.size = size
        self.output = output
        self.orientation = orientation
        self.context = context
        pixels = try MutablePixelBuffer(size: size, cleared: true, pool: context.pool)
    }

    var bytesPerRow: Int { pixels.bytesPerRow }

    /// A row to draw into; say ``touch()`` afterwards.
    func row(_ y: Int) -> UnsafeMutableRawPointer { pixels.row(y) }

    /// Says that the picture has changed since it was last rendered.
    mutating func touch() { isChanged = true }

    /// Lays a picture on a part, or puts it in the part's place. Parts outside the canvas are left out.
    mutating func draw(_ picture: borrowing MutablePixelBuffer, at rect: PixelRect, rows: Int, blends: Bool) {
        guard let visible = rect.clipped(to: size) else { return }
        let skipped = (visible.x - rect.x) * 4
        for y in visible.y..<min(visible.maxY, rect.y + rows) {
            let source = picture.row(y - rect.y) + skipped
            let target = row(y) + visible.x * 4
            if blends {
                Premultiplication.blend(source, over: target, count: visible.size.width)
            } else {
                target.copyMemory(from: source, byteCount: visible.size.width * 4)
            }
        }
        isChanged = true
    }

    /// Makes a part transparent.
    mutating func clear(_ rect: PixelRect) {
        guard let rect = rect.clipped(to: size) else { return }
        for y in rect.y..<rect.maxY {
            (row(y) + rect.x * 4).initializeMemory(as: UInt8.self, repeating: 0, count: rect.size.width * 4)
        }
        isChanged = true
    }

    /// Makes all transparent, as before the first frame.
    mutating func reset() {
        savedRect = nil
        clear(PixelRect(size: size))
    }

    /// A copy of all of it.
    func copy() throws(ImageError) -> PixelBuffer { try pixels.snapshot(pool: context.pool) }

    /// Makes it look like a copy that was made before.
    mutating func show(_ copy: PixelBuffer) {
        savedRect = nil
        for y in 0..<min(size.height, copy.height) {
            copy.withRow(y) { source in
                guard let base = source.baseAddress else { return }
                row(y).copyMemory(from: base, byteCount: min(source.count, size.width * 4))
            }
        }
        isChanged = true
    }

    /// Remembers a part for ``restore()``.
    mutating func save(_ rect: PixelRect) throws(ImageError) {
        savedRect = rect.clipped(to: size)
        guard let rect = savedRect else { return }
        if saved == nil { saved = try MutablePixelBuffer(size: size, cleared: false, pool: context.pool) }
        for y in rect.y..<rect.maxY {
            guard let copy = saved?.row(y) else { return }
            (copy + rect.x * 4).copyMemory(from: row(y) + rect.x * 4, byteCount: rect.size.width * 4)
        }
    }

    /// Puts the part that was remembered last back in its place.
    mutating func restore() {
        guard let rect = savedRect else { return }
        for y in rect.y..<rect.maxY {
            guard let copy = saved?.row(y) else { return }
            (row(y) + rect.x * 4).copyMemory(from: copy + rect.x * 4, byteCount: rect.size.width * 4)
        }
        savedRect = nil
        isChanged = true
    }

    /// The picture as it is now. Pictures that are equal share a buffer where that is cheap to see.
    mutating func render() throws(ImageError) -> PixelBuffer {
        if let shown, !isChanged || isEqual(to: shown) {
            isChanged = false
            return shown
        }
        var sink = try RowSink(stored: size, output: output, orientation: orientation, context: context)
        for y in 0..<size.height {
            sink.rowToFill().copyMemory(from: row(y), byteCount: size.width * 4)
            try sink.commitRow()
        }
        let picture = try sink.finish()
        shown = picture
        isChanged = false
        return picture
    }

    /// Ends at the first difference; a picture of another size or turned counts as different.
    private func isEqual(to picture: PixelBuffer) -> Bool {
        guard picture.size == size, orientation == .up else { return false }
        for y in 0..<size.height {
            let same = picture.withRow(y) { shown in
                shown.baseAddress.map { memcmp(row(y), $0, shown.count) == 0 } ?? false
            }
            guard same else { return false }
        }
        return true
    }
}
