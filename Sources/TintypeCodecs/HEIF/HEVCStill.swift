#if HEIF
internal import FoundationEssentials
internal import TintypeImages

/// A still image that is coded as one HEVC picture, or as a grid of pictures of one size (ISO/IEC 23008-12, section 6.6.2.3). Valid as
/// long as the bytes of the file.
///
/// libde265 gives the planes as they are coded. libheif 1.15 converts them to red, green and blue first, and repeats the chroma that
/// pixels share.
struct HEVCStill {
    /// The part of the whole picture that is shown.
    let aperture: PixelRect
    let orientation: Orientation
    private let size: PixelSize
    private let tiles: [Int]
    private let columns: Int
    /// The description of every tile.
    private let pictures: HEVCPictureParameters
    private let table: ItemTable

    /// The size of the image as it is shown.
    var displaySize: PixelSize { orientation.display(aperture.size) }

    /// - Returns: `nil` if the item is coded or derived in another way.
    init?(_ item: Int, in table: ItemTable, limits: DecodeLimits) throws(ImageError) {
        var grid: Grid?
        if table.type(of: item) == "grid" {
            grid = try table.withBytes(of: item) { bytes throws(ImageError) in try Grid(bytes) }
        }
        let tiles = grid == nil ? [item] : table.references("dimg", from: item)
        guard let first = tiles.first, tiles.allSatisfy({ table.type(of: $0) == "hvc1" }),
            let pictures = try Self.configuration(of: first, in: table).pictures()
        else { return nil }
        if let grid {
            let size = pictures.size
            // Every tile has a part in the picture, and the tiles cover it.
            guard tiles.count == grid.rows * grid.columns, grid.size.width <= grid.columns * size.width,
                grid.size.height <= grid.rows * size.height, grid.size.width > (grid.columns - 1) * size.width,
                grid.size.height > (grid.rows - 1) * size.height,
                tiles.allSatisfy({ table.properties(of: $0).allSatisfy { !Self.transformations.contains($0.type) } })
            else { return nil }
        }
        self.table = table
        self.tiles = tiles
        self.pictures = pictures
        columns = grid?.columns ?? 1
        size = grid?.size ?? pictures.size
        guard let view = try View(properties: table.properties(of: item), size: size) else { return nil }
        (aperture, orientation) = (view.aperture, view.orientation)
        guard max(pictures.codedSize.pixelCount, size.pixelCount) <= limits.maximumPixels else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the image claims \(pictures.codedSize) pixels, over the limit of \(limits.maximumPixels)")
        }
        // No picture of an honest file is much larger than the part that is shown.
        guard
            max(pictures.codedSize.width, pictures.codedSize.height, size.width, size.height)
                <= max(aperture.size.width, aperture.size.height) * 2 + 4_096
        else { return nil }
    }

    /// The image of transparency that belongs to an image.
    /// - Returns: `nil` if there is none, or if it is coded in another way.
    static func alpha(of item: Int, in table: ItemTable, limits: DecodeLimits) throws(ImageError) -> HEVCStill? {
        for other in table.items(referringTo: item, by: "auxl") {
            guard let box = table.properties(of: other).first(where: { $0.type == "auxC" }) else { continue }
            let name = String(decoding: box.contents.dropFirst(4).prefix { $0 != 0 }, as: UTF8.self)
            if HEIFSequence.alphaTypes.contains(name) { return try HEVCStill(other, in: table, limits: limits) }
        }
        return nil
    }

    // MARK: Header

    private static let transformations: Set<String> = ["clap", "irot", "imir"]

    private static func configuration(of item: Int, in table: ItemTable) throws(ImageError) -> HEVCConfiguration {
        guard let box = table.properties(of: item).first(where: { $0.type == "hvcC" }) else {
            throw .corrupt("an image of the HEIF file has no configuration")
        }
        return try HEVCConfiguration(box.contents)
    }

    /// The item data of a grid.
    private struct Grid {
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
            guard !size.isEmpty else { throw .corrupt("the grid of the HEIF file has a size of \(size)") }
        }
    }

    /// The part of a picture that its properties show, and how they turn it.
    private struct View {
        var aperture: PixelRect
        var orientation: Orientation

        /// - Returns: `nil` if the transformations come in another order than cropping, rotation, and mirroring, as MIAF asks for
        ///   (ISO/IEC 23000-22, section 7.3.6.7), or if the part doesn't lie on whole pixels.
        init?(properties: [MediaBox], size: PixelSize) throws(ImageError) {
            let boxes = properties.filter { transformations.contains($0.type) }
            let kinds = boxes.map(\.type)
            guard kinds == ["clap", "irot", "imir"].filter(kinds.contains) else { return nil }
            aperture = PixelRect(size: size)
            var (turns, mirror) = (0, Orientation.Mirror.none)
            for box in boxes {
                var reader = box.reader
                switch box.type {
                case "clap":
                    guard let rect = try PixelRect(cleanAperture: box, of: size) else { return nil }
                    aperture = rect
                case "irot": turns = try reader.uint8() & 3
                default: mirror = try reader.uint8() & 1 == 0 ? .topBottom : .leftRight
                }
            }
            orientation = Orientation(counterclockwiseQuarters: turns, mirror: mirror)
        }
    }

    // MARK: Pixels

    /// Decodes the whole picture.
    func decode(_ context: DecodeContext) throws(ImageError) -> HEVCStillPicture {
        var canvas: TileCanvas?
        var coding: ColorCoding?
        for (index, tile) in tiles.enumerated() {
            try context.checkCancellation()
            let (stream, picture) = try decode(tile: tile)
            if tiles.count == 1 {
                return HEVCStillPicture(planes: picture.planes, coding: picture.coding, owner: [stream])
            }
            defer { withExtendedLifetime(stream) {} }
            if coding == nil { coding = picture.coding }
            if canvas == nil { canvas = try TileCanvas(size: size, like: picture.planes, pool: context.pool) }
            guard picture.planes.layout == canvas?.planes.layout else {
                throw .corrupt("the tiles of the HEIF file have different layouts of chroma")
            }
            canvas?.copy(picture.planes, column: index % columns, row: index / columns)
        }
        guard let canvas, let coding else { throw .corrupt("the grid of the HEIF file has no tiles") }
        return HEVCStillPicture(planes: canvas.planes, coding: coding, owner: canvas.memory)
    }

    private func decode(tile: Int) throws(ImageError) -> (HEVCStream, HEVCPicture) {
        let configuration = try Self.configuration(of: tile, in: table)
        let stream = try HEVCStream(configuration, pictures: pictures)
        try table.withBytes(of: tile) { bytes throws(ImageError) in try stream.push(sample: bytes, rank: 0) }
        stream.flush()
        while stream.nextRank == nil { if try !stream.work() { break } }
        guard let picture = try stream.next() else {
            throw .corrupt("the HEIF file is damaged: its image cannot be decoded")
        }
        return (stream, picture)
    }
}

/// The planes of a still image, and their memory.
final class HEVCStillPicture {
    /// Valid as long as the object.
    let planes: PlanarPicture
    /// The pictures' own statement of their colors.
    let coding: ColorCoding
    private let owner: [AnyObject]

    init(planes: PlanarPicture, coding: ColorCoding, owner: [AnyObject]) {
        self.planes = planes
        self.coding = coding
        self.owner = owner
    }
}

/// Planes that are put together of tiles.
private struct TileCanvas {
    let planes: PlanarPicture
    let memory: [ScratchBytes]
    private let bases: [UnsafeMutableRawPointer]
    private let tile: PixelSize

    /// - Parameter tile: A picture of the size, layout, and depth of all tiles.
    init(size: PixelSize, like tile: PlanarPicture, pool: PixelBufferPool) throws(ImageError) {
        let sharesPixels = tile.layout == .half || tile.layout == .halfWidth
        guard !sharesPixels || tile.size.width % 2 == 0 && tile.size.height % 2 == 0 else {
            throw .corrupt("chroma of the HEIF file belongs to several tiles")
        }
        let bytes = tile.bits > 8 ? 2 : 1
        let chroma = tile.layout.chromaSize(of: size)
        var memory: [ScratchBytes] = []
        var planes: [PlanarPicture.Plane] = []
        for size in [size] + (chroma.map { [$0, $0] } ?? []) {
            guard let block = ScratchBytes(size.pixelCount * bytes, pool: pool) else {
                throw ImageError(.outOfMemory, stage: .decode, reason: "no memory for \(size) pixels")
            }
            memory.append(block)
            planes.append(
                PlanarPicture.Plane(base: UnsafeRawPointer(block.base), bytesPerRow: size.width * bytes, size: size))
        }
        self.planes = PlanarPicture(
            luma: planes[0], chroma: planes.count > 1 ? (planes[1], planes[2]) : nil, layout: tile.layout,
            bits: tile.bits)
        self.memory = memory
        self.tile = tile.size
        bases = memory.map(\.base)
    }

    /// Copies the part of a tile that lies on the canvas.
    func copy(_ picture: PlanarPicture, column: Int, row: Int) {
        copy(picture.luma, to: 0, planes.luma, x: column * tile.width, y: row * tile.height)
        guard let source = picture.chroma, let target = planes.chroma else { return }
        let (across, down) = (planes.layout == .full ? 1 : 2, planes.layout == .half ? 2 : 1)
        let (x, y) = (column * tile.width / across, row * tile.height / down)
        copy(source.blue, to: 1, target.blue, x: x, y: y)
        copy(source.red, to: 2, target.red, x: x, y: y)
    }

    private func copy(_ source: PlanarPicture.Plane, to index: Int, _ target: PlanarPicture.Plane, x: Int, y: Int) {
        let bytes = planes.bits > 8 ? 2 : 1
        let count = min(source.size.width, target.size.width - x) * bytes
        for line in 0..<min(source.size.height, target.size.height - y) {
            (bases[index] + (y + line) * target.bytesPerRow + x * bytes)
                .copyMemory(from: source.base + line * source.bytesPerRow, byteCount: count)
        }
    }
}
#endif
