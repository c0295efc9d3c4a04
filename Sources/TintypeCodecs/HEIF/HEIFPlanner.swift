#if HEIF
internal import FoundationEssentials
internal import TintypeImages

/// Follows the references of items, and makes plans of images.
///
/// It counts the references that it follows, so that a small file can't ask for much work, and refuses circles. An item is planned
/// once, however many others name it; the work of decoding it counts each time. The size of a coded picture comes from its bitstream;
/// the box `ispe` must agree.
struct HEIFPlanner {
    private let table: ItemTable
    private var limits: DecodeLimits
    /// The derived images that are being planned.
    private var path: [Int] = []
    /// The number of images that may still lie on canvases.
    private var layersLeft = 256
    /// The bytes of coded pictures that may still be decoded; `nil` before the first.
    private var bytesLeft: Int?
    /// The number of coded pictures that may still be planned: four times the largest grid's number.
    private var picturesLeft = 1 << 18
    /// The plans of items, with the bytes of their pictures and the number of their layers.
    private var plans: [Int: (plan: HEIFPlan, bytes: Int, layers: Int)] = [:]
    private var profiles: [UnsafeRawPointer: Data] = [:]
    private var configurations: [UnsafeRawPointer: (HEVCConfiguration, pictures: HEVCPictureParameters?)] = [:]

    /// Derived images within each other. The file format sets no limit; real files have up to 3.
    private static let maximumDepth = 8

    init(_ table: ItemTable, limits: DecodeLimits) {
        (self.table, self.limits) = (table, limits)
        // The sums of pixels don't overflow, even if a program sets no limit.
        self.limits.maximumPixels = min(limits.maximumPixels, 1 << 40)
    }

    /// - Throws: ``ImageError/Code/formatNotEnabled`` for codings that aren't read.
    mutating func plan(_ id: Int) throws(ImageError) -> HEIFPlan {
        guard !path.contains(id) else { throw .corrupt("item \(id) of the HEIF file contains itself") }
        guard path.count < Self.maximumDepth else {
            throw .corrupt("the derived images of the HEIF file are nested more than \(Self.maximumDepth) deep")
        }
        if let known = plans[id] {
            try charge(known.bytes)
            try charge(layers: known.layers)
            return known.plan
        }
        path.append(id)
        defer { path.removeLast() }
        let (bytes, layers) = (bytesLeft ?? allowedBytes, layersLeft)
        let plan = try newPlan(id)
        plans[id] = (plan, bytes - (bytesLeft ?? allowedBytes), layers - layersLeft)
        return plan
    }

    /// Plans an image with its transparency.
    mutating func image(_ id: Int) throws(ImageError) -> ItemImage {
        let plan = try plan(id)
        let (alpha, isPremultiplied): (HEIFPlan, Bool)
        if let own = table.transparency(of: id) {
            (alpha, isPremultiplied) = (try self.plan(own.item), own.isPremultiplied)
        } else if let tiles = try transparencyOfTiles(plan) {
            (alpha, isPremultiplied) = tiles
        } else {
            return ItemImage(id, plan, alpha: nil, isPremultiplied: false)
        }
        guard alpha.mostPixels <= plan.mostPixels * 4 + Self.freeAlpha else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the alpha image of the HEIF file has \(alpha.decodedPixels) pixels, too many for an image of "
                    + "\(plan.size)")
        }
        return ItemImage(id, plan, alpha: alpha, isPremultiplied: isPremultiplied)
    }

    /// The transparency of a grid whose tiles each have transparency, as a grid.
    private mutating func transparencyOfTiles(
        _ plan: HEIFPlan
    ) throws(ImageError) -> (plan: HEIFPlan, isPremultiplied: Bool)? {
        guard case .grid(var grid) = plan.content else { return nil }
        let parts = grid.tiles.compactMap { table.transparency(of: $0.item) }
        guard let first = parts.first, let tiles = try plainTiles(parts.map(\.item)) else { return nil }
        grid.tiles = tiles
        let alpha = HEIFPlan(
            item: first.item, content: .grid(grid), size: plan.size, view: plan.view, color: try StatedColor([]),
            bits: tiles[0].bits, isGray: tiles[0].layout == .none)
        return (alpha, first.isPremultiplied)
    }

    private mutating func newPlan(_ id: Int) throws(ImageError) -> HEIFPlan {
        let item = try table.item(id)
        try item.checkEssentialProperties()
        var plan =
            switch item.type {
            case "grid": try grid(item)
            case "iovl": try overlay(item)
            case "iden", "tmap": try base(item)
            default: try coded(item)
            }
        if let box = item.first("ispe"), item.type != "tmap" {
            let stated = try Self.size(box)
            guard stated == plan.view.displaySize else {
                throw .corrupt(
                    "the HEIF file states a size of \(stated), but its image has \(plan.view.displaySize) pixels")
            }
        }
        for property in item.properties { try plan.view.apply(property.box) }
        let color = try color(of: item)
        // On a canvas, which is sRGB, each image has its own colors.
        if item.type != "tmap", !plan.isComposed { plan.color = plan.color.replacingColors(by: color) }
        try HEIFPlan.checkProportions(decoded: plan.largestPicture, shown: plan.view.aperture.size)
        if plan.isComposed { try plan.checkWorkingMemory(limits) }
        return plan
    }

    /// The colors of an item. Items that share a profile share its copy.
    private mutating func color(of item: ItemTable.Item) throws(ImageError) -> StatedColor {
        try StatedColor(item.properties.map(\.box)) { bytes in
            guard let base = bytes.baseAddress else { return Data() }
            if let known = profiles[base] { return known }
            let profile = Data(bytes)
            profiles[base] = profile
            return profile
        }
    }

    // MARK: Coded pictures

    /// The bytes that may be decoded of a file; honest pictures share none.
    private var allowedBytes: Int { table.claimedBytes(of: table.primary).file * 8 + Self.freeBytes }

    /// Counts the bytes of pictures that are to be decoded.
    private mutating func charge(_ bytes: Int) throws(ImageError) {
        let left = (bytesLeft ?? allowedBytes) - bytes
        guard left >= 0 else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the images of the HEIF file share their bytes: together they take more than "
                    + "\(ByteCount(allowedBytes))")
        }
        bytesLeft = left
    }

    private mutating func coded(_ item: ItemTable.Item) throws(ImageError) -> HEIFPlan {
        let coded = try picture(item)
        return HEIFPlan(
            item: item.id, content: .coded(coded), size: coded.size, view: HEIFView(coded.size),
            color: try StatedColor([]), bits: coded.bits, isGray: coded.layout == .none)
    }

    /// Counts a picture that is to be decoded: its bytes, and its configuration, which is read anew for each picture. Pictures that share
    /// them make a small file cost as much as a large one.
    private mutating func charge(pictureOf item: ItemTable.Item) throws(ImageError) {
        let bytes = table.claimedBytes(of: item.id).item
        guard bytes > 0 else { throw .corrupt("item \(item.id) of the HEIF file has no bytes") }
        try charge(bytes + (item.first(item.type == "av01" ? "av1C" : "hvcC")?.contents.count ?? 0))
        picturesLeft -= 1
        guard picturesLeft >= 0 else {
            throw ImageError(.limitExceeded, stage: .decode, reason: "the HEIF file has too many coded images")
        }
    }

    private mutating func picture(_ item: ItemTable.Item) throws(ImageError) -> HEIFCodedItem {
        try charge(pictureOf: item)
        let picture =
            switch item.type {
            case "hvc1", "hev1": try hevc(item)
            case "av01": try av1(item)
            default:
                throw ImageError(
                    .formatNotEnabled, stage: .decode,
                    reason: "an image of the HEIF file is coded as '\(item.type)', which isn't supported")
            }
        for size in [picture.size, picture.codedSize] {
            guard size.pixelCount <= limits.maximumPixels else { throw Self.tooLarge(size, limits) }
        }
        return picture
    }

    private mutating func hevc(_ item: ItemTable.Item) throws(ImageError) -> HEIFCodedItem {
        guard let box = item.first("hvcC")?.contents, let base = box.baseAddress else {
            throw .corrupt("an HEVC image of the HEIF file has no configuration ('hvcC')")
        }
        // The tiles of a grid share the same configuration.
        let known: (configuration: HEVCConfiguration, pictures: HEVCPictureParameters?)
        if let found = configurations[base] {
            known = found
        } else {
            let configuration = try HEVCConfiguration(box)
            known = (configuration, try configuration.pictures())
            configurations[base] = known
        }
        let configuration = known.configuration
        let pictures: HEVCPictureParameters
        if let stated = known.pictures {
            pictures = stated
        } else {
            pictures = try table.withBytes(of: item.id) { bytes throws(ImageError) in
                try configuration.pictures(within: bytes)
            }
        }
        return HEIFCodedItem(
            item: item.id, coding: .hevc(configuration, pictures), size: pictures.size, bits: pictures.bits,
            layout: pictures.chroma)
    }

    /// AV1's configuration states all but the size. The decoder compares the size in `ispe` with the bitstream.
    private func av1(_ item: ItemTable.Item) throws(ImageError) -> HEIFCodedItem {
        #if AVIF
        guard let box = item.first("av1C"), let size = item.first("ispe") else {
            throw .corrupt("an AV1 image of the HEIF file has no configuration ('av1C') or no size ('ispe')")
        }
        var reader = box.reader
        try reader.skip(2)
        let flags = try reader.uint8()
        let layout: PlanarPicture.Chroma =
            flags & 0x10 != 0 ? .none : flags & 0x08 == 0 ? .full : flags & 0x04 == 0 ? .halfWidth : .half
        return HEIFCodedItem(
            item: item.id, coding: .av1, size: try Self.size(size),
            bits: flags & 0x40 == 0 ? 8 : flags & 0x20 == 0 ? 10 : 12, layout: layout)
        #else
        throw ImageError(
            .formatNotEnabled, stage: .decode,
            reason: "an image of the HEIF file is coded as AV1, which requires the package trait AVIF")
        #endif
    }

    static func size(_ box: MediaBox) throws(ImageError) -> PixelSize {
        var reader = box.reader
        _ = try reader.fullBox()
        let size = PixelSize(width: try reader.uint32(), height: try reader.uint32())
        guard !size.isEmpty else { throw .corrupt("the HEIF image has the invalid size \(size)") }
        return size
    }

    // MARK: Derived images

    /// An image that is another with further properties: `iden`, or the image that `tmap` brightens.
    private mutating func base(_ item: ItemTable.Item) throws(ImageError) -> HEIFPlan {
        let sources = table.references("dimg", from: item.id)
        guard let source = sources.first, item.type == "tmap" || sources.count == 1 else {
            throw .corrupt(
                "item \(item.id) of the HEIF file is derived from \(sources.count) images, which isn't valid")
        }
        return try plan(source)
    }

    private mutating func grid(_ item: ItemTable.Item) throws(ImageError) -> HEIFPlan {
        let layout = try table.withBytes(of: item.id) { bytes throws(ImageError) in try GridLayout(bytes) }
        let sources = table.references("dimg", from: item.id)
        guard sources.count == layout.rows * layout.columns else {
            throw .corrupt(
                "the grid of the HEIF file has \(layout.columns) × \(layout.rows) tiles, but \(sources.count) images")
        }
        guard layout.size.pixelCount <= limits.maximumPixels else { throw Self.tooLarge(layout.size, limits) }
        if let tiles = try plainTiles(sources), try haveEvenTransparency(tiles) {
            try layout.checkTiles(of: tiles[0].size)
            var color = try StatedColor([])
            if let first = sources.first { color = try self.color(of: try table.item(first)) }
            return HEIFPlan(
                item: item.id,
                content: .grid(HEIFPlan.Grid(columns: layout.columns, rows: layout.rows, tiles: tiles)),
                size: layout.size, view: HEIFView(layout.size), color: color, bits: tiles[0].bits,
                isGray: tiles[0].layout == .none)
        }
        var layers: [HEIFPlan.Layer] = []
        for (index, source) in sources.enumerated() {
            let image = try layer(source)
            let tile = layers.first?.image.plan.view.displaySize ?? image.plan.view.displaySize
            guard image.plan.view.displaySize == tile else {
                throw .corrupt("the tiles of the HEIF file have different sizes")
            }
            layers.append(
                HEIFPlan.Layer(
                    image: image, x: index % layout.columns * tile.width, y: index / layout.columns * tile.height))
        }
        try layout.checkTiles(of: layers[0].image.plan.view.displaySize)
        let isOpaque = layers.allSatisfy { $0.image.alpha == nil && !$0.image.plan.isTransparent }
        return try composition(item, layers, size: layout.size, background: [0, 0, 0, isOpaque ? .max : 0])
    }

    /// True if none of the tiles has transparency, or all have it in the tiles' size, so that it makes a grid too.
    private mutating func haveEvenTransparency(_ tiles: [HEIFCodedItem]) throws(ImageError) -> Bool {
        let items = tiles.compactMap { table.transparency(of: $0.item)?.item }
        guard !items.isEmpty else { return true }
        guard items.count == tiles.count, let transparency = try plainTiles(items) else { return false }
        return transparency[0].size == tiles[0].size
    }

    /// The tiles of a grid, if all are coded alike, and shown as they are; else `nil`.
    private mutating func plainTiles(_ sources: [Int]) throws(ImageError) -> [HEIFCodedItem]? {
        var tiles: [HEIFCodedItem] = []
        // An item may be many tiles. Its properties, up to 255, are looked at once.
        var known: [Int: HEIFCodedItem] = [:]
        for source in sources {
            let item = try table.item(source)
            let tile: HEIFCodedItem
            if let found = known[source] {
                try charge(pictureOf: item)
                tile = found
            } else if let found = try plainTile(item) {
                tile = found
            } else {
                return nil
            }
            known[source] = tile
            guard tiles.first?.matches(tile) ?? true else { return nil }
            tiles.append(tile)
        }
        // Chroma of a tile must not belong to the next.
        guard let first = tiles.first, sources.count == 1 || first.layout.isDivisible(first.size) else { return nil }
        return tiles
    }

    /// The picture of an item that is a tile, if it is shown as it is; else `nil`.
    private mutating func plainTile(_ item: ItemTable.Item) throws(ImageError) -> HEIFCodedItem? {
        try item.checkEssentialProperties()
        guard ["hvc1", "hev1", "av01"].contains(item.type),
            !item.properties.contains(where: { HEIFView.properties.contains($0.box.type) })
        else { return nil }
        let tile = try picture(item)
        if let box = item.first("ispe"), try Self.size(box) != tile.size {
            throw .corrupt("the HEIF file states a size of \(try Self.size(box)), but a tile has \(tile.size) pixels")
        }
        return tile
    }

    private mutating func overlay(_ item: ItemTable.Item) throws(ImageError) -> HEIFPlan {
        let sources = table.references("dimg", from: item.id)
        guard !sources.isEmpty, sources.count <= layersLeft else { throw Self.tooManyLayers(sources.count) }
        let layout = try table.withBytes(of: item.id) { bytes throws(ImageError) in
            try OverlayLayout(bytes, count: sources.count)
        }
        guard layout.size.pixelCount <= limits.maximumPixels else { throw Self.tooLarge(layout.size, limits) }
        var layers: [HEIFPlan.Layer] = []
        for (source, place) in zip(sources, layout.places) {
            layers.append(HEIFPlan.Layer(image: try layer(source), x: place.x, y: place.y))
        }
        return try composition(item, layers, size: layout.size, background: layout.background)
    }

    private mutating func layer(_ source: Int) throws(ImageError) -> ItemImage {
        try charge(layers: 1)
        return try image(source)
    }

    /// Counts images that are to be drawn onto canvases.
    private mutating func charge(layers: Int) throws(ImageError) {
        layersLeft -= layers
        guard layersLeft >= 0 else { throw Self.tooManyLayers(256) }
    }

    private func composition(
        _ item: ItemTable.Item, _ layers: [HEIFPlan.Layer], size: PixelSize, background: SIMD4<UInt16>
    ) throws(ImageError) -> HEIFPlan {
        // Images on a canvas are about as large as the canvas. Else a small file names a large picture over and over.
        let decoded = layers.reduce(0) { $0 + $1.image.decodedPixels }
        guard decoded <= size.pixelCount * 8 + HEIFPlan.freePixels else { throw Self.tooManyLayers(layers.count) }
        let plans = layers.map(\.image.plan)
        let isHighDynamicRange = plans[0].isHighDynamicRange
        // Pictures in standard and in high dynamic range only go together where the latter are tone-mapped.
        let isEven = plans.allSatisfy { $0.isHighDynamicRange == isHighDynamicRange }
        return HEIFPlan(
            item: item.id, content: .layers(layers, background: background), size: size, view: HEIFView(size),
            color: isEven && isHighDynamicRange ? plans[0].color : try StatedColor([]),
            bits: isEven ? plans.map(\.bits).max() ?? 8 : 8, isGray: false)
    }

    /// Pixels of transparency that any image may have, however small.
    private static let freeAlpha = 65_536

    /// Bytes that are decoded again in any file, however small.
    private static let freeBytes = 1 << 20

    // MARK: Errors

    private static func tooLarge(_ size: PixelSize, _ limits: DecodeLimits) -> ImageError {
        ImageError(
            .limitExceeded, stage: .decode,
            reason: "the image claims \(size) pixels, over the limit of \(limits.maximumPixels)")
    }

    private static func tooManyLayers(_ count: Int) -> ImageError {
        ImageError(
            .limitExceeded, stage: .decode,
            reason: "the HEIF file combines \(count) images on a canvas: too many, or too large for it")
    }
}

extension PlanarPicture.Chroma {
    /// True if no number of chroma lies across the right or lower side of a picture.
    fileprivate func isDivisible(_ size: PixelSize) -> Bool {
        switch self {
        case .none, .full: true
        case .halfWidth: size.width % 2 == 0
        case .half: size.width % 2 == 0 && size.height % 2 == 0
        }
    }
}
#endif
