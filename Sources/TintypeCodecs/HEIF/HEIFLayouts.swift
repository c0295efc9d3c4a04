#if HEIF
internal import TintypeImages

/// The item data of a grid (ISO/IEC 23008-12, section 6.6.2.3.2).
struct GridLayout {
    let rows: Int
    let columns: Int
    let size: PixelSize

    init(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        var reader = BoxReader(bytes)
        try reader.skip(1)
        let isLong = try reader.uint8() & 1 != 0
        rows = try reader.uint8() + 1
        columns = try reader.uint8() + 1
        let width = isLong ? try reader.uint32() : try reader.uint16()
        size = PixelSize(width: width, height: isLong ? try reader.uint32() : try reader.uint16())
        guard !size.isEmpty else { throw .corrupt("the grid of the HEIF file has the invalid size \(size)") }
    }

    /// Refuses tiles that don't cover the picture, or that are much larger.
    func checkTiles(of tile: PixelSize) throws(ImageError) {
        guard size.width <= columns * tile.width, size.height <= rows * tile.height else {
            throw .corrupt(
                "the grid of the HEIF file has \(size) pixels, which \(columns) × \(rows) tiles of \(tile) don't cover")
        }
        try HEIFPlan.checkProportions(decoded: tile, shown: size)
    }
}

/// The item data of an overlay (section 6.6.2.2.2).
struct OverlayLayout {
    let size: PixelSize
    /// Red, green, blue, and alpha, straight.
    let background: SIMD4<UInt16>
    private(set) var places: [(x: Int, y: Int)] = []

    /// - Parameter count: The number of images on the canvas.
    init(_ bytes: UnsafeRawBufferPointer, count: Int) throws(ImageError) {
        var reader = BoxReader(bytes)
        try reader.skip(1)
        let isLong = try reader.uint8() & 1 != 0
        var background = SIMD4<UInt16>.zero
        for component in 0..<4 { background[component] = UInt16(truncatingIfNeeded: try reader.uint16()) }
        self.background = background
        let width = isLong ? try reader.uint32() : try reader.uint16()
        size = PixelSize(width: width, height: isLong ? try reader.uint32() : try reader.uint16())
        guard !size.isEmpty else { throw .corrupt("the canvas of the HEIF file has the invalid size \(size)") }
        for _ in 0..<count {
            let x = isLong ? try reader.int32() : Int(Int16(truncatingIfNeeded: try reader.uint16()))
            places.append((x, isLong ? try reader.int32() : Int(Int16(truncatingIfNeeded: try reader.uint16()))))
        }
    }
}
#endif
