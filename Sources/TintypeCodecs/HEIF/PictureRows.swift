#if HEIF
internal import TintypeImages

/// The planes of a picture or a grid of pictures, from the top to the bottom. Of a grid, a row of tiles is there at once.
final class PictureRows {
    /// A part of the planes over the whole width.
    struct Window {
        let planes: PlanarPicture
        /// The place of the window's first row.
        let top: Int
        /// The rows that can be converted: also the chroma beside them is there.
        let rows: Range<Int>
    }

    private enum Source {
        case picture(HEIFCodedItem)
        case grid(HEIFPlan.Grid)
    }

    private let source: Source
    private let size: PixelSize
    /// The part that is asked for.
    private let part: PixelRect
    private let table: ItemTable
    private let skipsLoopFilters: Bool
    private let context: ProcessingContext
    private var window: Window?
    private var picture: CodedPicture?
    private var band: TileBand?
    private var nextBand = 0
    /// The pictures' own statement of their colors, known with the first window.
    private(set) var coding: ColorCoding?

    /// - Parameter output: The stored size that the part is made smaller to.
    /// - Returns: `nil` for layers, which have no planes.
    init?(_ plan: HEIFPlan, part: PixelRect, output: PixelSize, table: ItemTable, context: ProcessingContext) {
        switch plan.content {
        case .coded(let item): source = .picture(item)
        case .grid(let grid): source = .grid(grid)
        case .layers: return nil
        }
        size = plan.size
        self.part = part
        self.table = table
        skipsLoopFilters = LoopFilters.areInvisible(in: part.size, at: output)
        self.context = context
    }

    /// Gives a window with a row. Rows are asked for from the top to the bottom of the part.
    func window(with row: Int) throws(ImageError) -> Window {
        if let window, window.rows.contains(row) { return window }
        switch source {
        case .picture(let item):
            let picture = try CodedPicture.decode(
                item, in: table, skipsLoopFilters: skipsLoopFilters, context)
            self.picture = picture
            coding = picture.coding
            let window = Window(planes: picture.planes, top: 0, rows: 0..<size.height)
            self.window = window
            return window
        case .grid(let grid):
            // The chroma beside the first row may belong to the tiles above.
            if band == nil { nextBand = max(0, part.y - 2) / grid.tile.height }
            while true {
                let window = try decodeBand(grid)
                self.window = window
                if window.rows.contains(row) { return window }
            }
        }
    }

    /// Decodes the next row of tiles into the band's memory.
    private func decodeBand(_ grid: HEIFPlan.Grid) throws(ImageError) -> Window {
        let row = nextBand
        nextBand += 1
        guard row < grid.rows, row * grid.tile.height < size.height, let first = grid.tiles.first else {
            throw .corrupt("the grid of the HEIF file ends too early")
        }
        let band =
            if let band = self.band { band } else {
                try TileBand(of: size, tile: first, pool: context.pool)
            }
        self.band = band
        band.begin(at: row * grid.tile.height)
        // Chroma beside the part takes part too.
        let columns = (0..<grid.columns).filter { column in
            let x = column * grid.tile.width
            return x < min(size.width, part.maxX + 2) && x + grid.tile.width > part.x - 2
        }
        // Sendable: the table only reads memory that outlives the work, and each piece writes its own columns of the band.
        nonisolated(unsafe) let (table, target) = (table, band)
        let tiles = grid.tiles[row * grid.columns..<(row + 1) * grid.columns]
        let stated = Lock<ColorCoding?>(nil)
        let (context, skipsLoopFilters) = (context, skipsLoopFilters)
        let width = grid.tile.width
        try DividedWork(count: columns.count) { piece throws(ImageError) in
            let column = columns[piece]
            let tile = try CodedPicture.decode(
                tiles[tiles.startIndex + column], in: table, skipsLoopFilters: skipsLoopFilters, context)
            if piece == 0 { stated.withLock { $0 = tile.coding } }
            target.copy(tile.planes, x: column * width)
            withExtendedLifetime(tile) {}
        }.run()
        if coding == nil { coding = stated.withLock { $0 } }
        let bottom = min(size.height, (row + 1) * grid.tile.height)
        let isFinished = bottom == size.height || first.layout != .half
        return Window(
            planes: band.planes(to: bottom), top: band.top, rows: band.firstRow..<(isFinished ? bottom : bottom - 1))
    }
}

/// The memory of a row of tiles, and of the last two rows of pixels above them.
private final class TileBand {
    /// The place of the first row of the memory.
    private(set) var top = 0
    /// The first row that has not been converted.
    private(set) var firstRow = 0
    private let width: Int
    private let tile: HEIFCodedItem
    private let memory: [ScratchBytes]
    private let sizes: [PixelSize]
    private var isEmpty = true

    /// The rows of pixels above a band that are kept, if rows share chroma: as many, so that chroma lies as in the whole.
    private let margin: Int

    /// - Parameter image: The size of the whole. Tiles may be much higher, and the part of them below it is left out.
    init(of image: PixelSize, tile: HEIFCodedItem, pool: PixelBufferPool) throws(ImageError) {
        width = image.width
        self.tile = tile
        margin = tile.layout == .half ? 2 : 0
        let size = PixelSize(width: width, height: min(image.height, tile.size.height) + margin)
        let chroma = tile.layout.chromaSize(of: size)
        sizes = [size] + (chroma.map { [$0, $0] } ?? [])
        var memory: [ScratchBytes] = []
        // Cleared: tiles beside the part that is shown aren't decoded.
        for size in sizes {
            guard let block = ScratchBytes(size.pixelCount * (tile.bits > 8 ? 2 : 1), pool: pool) else {
                throw ImageError(.outOfMemory, stage: .decode, reason: "there isn't enough memory for \(size) pixels")
            }
            memory.append(block)
        }
        self.memory = memory
    }

    private var numberBytes: Int { tile.bits > 8 ? 2 : 1 }

    /// The rows of plane 0, 1, or 2 that a number of rows of pixels take.
    private func rows(_ rows: Int, in plane: Int) -> Int { plane > 0 && tile.layout == .half ? rows / 2 : rows }

    /// Starts a band. The part below the margin of the previous picture becomes the margin.
    func begin(at row: Int) {
        if !isEmpty {
            for (plane, block) in memory.enumerated() {
                let bytes = rows(margin, in: plane) * sizes[plane].width * numberBytes
                let end = rows(row - top, in: plane) * sizes[plane].width * numberBytes
                block.base.copyMemory(from: block.base + end - bytes, byteCount: bytes)
            }
            firstRow = row - margin / 2
            top = row - margin
        } else {
            firstRow = row
            top = row
        }
        isEmpty = false
        start = row - top
    }

    /// The row of the memory where the band starts.
    private var start = 0

    /// Copies the part of a tile that lies within the band.
    func copy(_ picture: PlanarPicture, x: Int) {
        copy(picture.luma, to: 0, x: x)
        guard let chroma = picture.chroma else { return }
        let x = tile.layout == .full ? x : x / 2
        copy(chroma.blue, to: 1, x: x)
        copy(chroma.red, to: 2, x: x)
    }

    private func copy(_ source: PlanarPicture.Plane, to plane: Int, x: Int) {
        let (size, start) = (sizes[plane], rows(start, in: plane))
        let count = min(source.size.width, size.width - x) * numberBytes
        guard count > 0 else { return }
        for line in 0..<min(source.size.height, size.height - start) {
            (memory[plane].base + ((start + line) * size.width + x) * numberBytes)
                .copyMemory(from: source.base + line * source.bytesPerRow, byteCount: count)
        }
    }

    /// The planes down to a row of the whole.
    func planes(to bottom: Int) -> PlanarPicture {
        let shown = PixelSize(width: width, height: bottom - top)
        let chroma = tile.layout.chromaSize(of: shown)
        func plane(_ index: Int, _ size: PixelSize) -> PlanarPicture.Plane {
            PlanarPicture.Plane(
                base: UnsafeRawPointer(memory[index].base), bytesPerRow: sizes[index].width * numberBytes, size: size)
        }
        return PlanarPicture(
            luma: plane(0, shown), chroma: chroma.map { (plane(1, $0), plane(2, $0)) }, layout: tile.layout,
            bits: tile.bits)
    }
}
#endif
