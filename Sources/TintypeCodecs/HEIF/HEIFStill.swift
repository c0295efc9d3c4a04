#if HEIF
internal import FoundationEssentials
internal import TintypeImages

/// The still images of a HEIF file, as far as its header describes them. Valid as long as the bytes.
struct HEIFStill {
    let table: ItemTable
    let image: ItemImage
    let info: ImageInfo

    /// - Parameter page: The image, counted from 0: first the primary image, then the others in the order of the file.
    /// - Throws: ``ImageError/Code/truncatedImage`` instead of ``ImageError/Code/corruptImage`` if the file ends too early.
    init(
        _ bytes: UnsafeRawBufferPointer, format: ImageFormat, page: Int = 0, limits: DecodeLimits
    ) throws(ImageError) {
        let boxes = TopLevelBoxes(bytes)
        let isTruncated = boxes.isTruncated(bytes)
        do throws(ImageError) {
            try self.init(bytes, boxes, isTruncated: isTruncated, format: format, page: page, limits: limits)
        } catch {
            guard error.code == .corruptImage, isTruncated else { throw error }
            throw .truncated("the HEIF file ends too early (\(error.reason))")
        }
    }

    private init(
        _ bytes: UnsafeRawBufferPointer, _ boxes: TopLevelBoxes, isTruncated: Bool, format: ImageFormat, page: Int,
        limits: DecodeLimits
    ) throws(ImageError) {
        guard let meta = boxes.first("meta") else {
            throw isTruncated
                ? .truncated("the HEIF file ends before its header") : .corrupt("the HEIF file has no images")
        }
        guard meta.isComplete else { throw .truncated("the HEIF file ends in its header") }
        table = try ItemTable(UnsafeRawBufferPointer(rebasing: bytes[meta.payload]), of: bytes)
        let pages = table.pages
        var options = DecodeOptions()
        options.page = page
        try options.checkPage(count: pages.count)
        image = try ItemImage(pages[page], in: table, limits: limits)
        let plan = image.plan
        var info = ImageInfo(
            format: format, size: plan.view.displaySize, hasAlpha: image.alpha != nil || plan.isTransparent,
            bitsPerComponent: plan.bits,
            colorProfile: CodedColor.name(
                profile: plan.color.profile, codePoints: plan.color.coding?.codePoints ?? .sRGB),
            isComplete: !isTruncated,
            isHighDynamicRange: plan.isHighDynamicRange)
        info.pageCount = pages.count
        info.metadata = table.metadata(of: image.item)
        self.info = info
    }

    /// The metadata of the still image in a file, which is its sequence's, too; none without such an image.
    static func metadata(of data: Data) -> ImageMetadata {
        let metadata = try? data.withBytes { bytes throws(ImageError) in
            guard let meta = TopLevelBoxes(bytes).first("meta") else { return ImageMetadata() }
            let table = try ItemTable(UnsafeRawBufferPointer(rebasing: bytes[meta.payload]), of: bytes)
            return table.metadata(of: table.primary)
        }
        return metadata ?? ImageMetadata()
    }
}

/// An image of a file, with its transparency.
struct ItemImage {
    let item: Int
    let plan: HEIFPlan
    let alpha: HEIFPlan?
    let isPremultiplied: Bool

    init(_ item: Int, in table: ItemTable, limits: DecodeLimits) throws(ImageError) {
        var planner = HEIFPlanner(table, limits: limits)
        self = try planner.image(item)
    }

    /// The most of the memory that decoding takes at once, as the size of a picture of four bytes per pixel.
    var workingSize: PixelSize {
        let image = plan.workingSize
        guard let alpha else { return image }
        // Transparency of another size is enlarged, with up to two bytes a pixel.
        let enlarged = alpha.size == plan.size ? 0 : (plan.size.pixelCount + 1) / 2
        let pixels = alpha.workingSize.pixelCount + enlarged
        return PixelSize(width: image.width, height: image.height + (pixels + image.width - 1) / image.width)
    }

    /// An image whose transparency doesn't matter.
    init(opaque plan: HEIFPlan) { (item, self.plan, alpha, isPremultiplied) = (plan.item, plan, nil, false) }

    init(_ item: Int, _ plan: HEIFPlan, alpha: HEIFPlan?, isPremultiplied: Bool) {
        (self.item, self.plan, self.alpha, self.isPremultiplied) = (item, plan, alpha, isPremultiplied)
    }
}

extension HEIFPlan {
    /// True if layers may leave something of a transparent canvas.
    var isTransparent: Bool {
        guard case .layers(_, let background) = content else { return false }
        return background.w < .max
    }
}

extension ItemTable.Item {
    /// The kind of an auxiliary image, in the form of a URN. Of a name that is longer than any known one, the start.
    var auxiliaryType: String? {
        first("auxC").map {
            // Thousands of items may share a box.
            String(decoding: $0.contents.dropFirst(4).prefix(256).prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    var isTransparency: Bool { auxiliaryType.map(MediaTrack.alphaTypes.contains) ?? false }

    /// The properties that Tintype knows, or may leave out without showing another picture.
    private static let knownProperties: Set<String> = [
        "hvcC", "av1C", "ispe", "pixi", "colr", "pasp", "auxC", "clap", "irot", "imir", "rloc", "clli", "mdcv", "cclv",
        "amve", "udes", "altt", "aebr", "wbbr", "fobr", "afbr", "dobr", "pano", "subs", "a1lx", "rref", "crtt", "mdft",
    ]

    /// - Throws: ``ImageError/Code/formatNotEnabled`` for a property that a reader has to know, and Tintype doesn't.
    func checkEssentialProperties() throws(ImageError) {
        guard
            let unknown = properties.first(where: { $0.isEssential && !Self.knownProperties.contains($0.box.type) })
        else { return }
        throw ImageError(
            .formatNotEnabled, stage: .decode,
            reason: "an image of the HEIF file requires the property '\(unknown.box.type)', which isn't supported")
    }
}

extension ItemTable {
    /// The images that are to be shown by themselves: the primary image, then the others in the order of the file. Not thumbnails,
    /// auxiliary images, parts of others, and alternatives to an image before them.
    var pages: [Int] {
        var pages = [primary]
        for id in order where id != primary {
            guard let item = try? item(id), !item.isHidden, Self.imageTypes.contains(item.type),
                references("thmb", from: id).isEmpty, references("auxl", from: id).isEmpty,
                items(referringTo: id, by: "dimg").isEmpty
            else { continue }
            pages.append(id)
        }
        var shown: Set<Int> = []
        let groups = Dictionary(
            alternatives.enumerated().flatMap { group in group.element.map { ($0, group.offset) } },
            uniquingKeysWith: { first, _ in first })
        return pages.filter { groups[$0].map { shown.insert($0).inserted } ?? true }
    }

    /// Another coding doesn't make an image a page that can't be shown.
    private static let imageTypes: Set<String> = ["hvc1", "hev1", "av01", "grid", "iden", "iovl"]

    /// Exif, from its TIFF header on, and XMP.
    func metadata(of image: Int) -> ImageMetadata {
        var metadata = ImageMetadata()
        for item in items(referringTo: image, by: "cdsc").prefix(32) {
            switch (item.type, item.contentType) {
            case ("Exif", _) where metadata.exif == nil: metadata.exif = bytes(of: item.id)?.exifBlock
            case ("mime", "application/rdf+xml") where metadata.xmp == nil: metadata.xmp = bytes(of: item.id)
            default: break
            }
        }
        return metadata
    }

    private func bytes(of item: Int) -> Data? {
        guard claimedBytes(of: item).item <= ImageMetadata.maximumBlockBytes else { return nil }
        return try? withBytes(of: item) { bytes throws(ImageError) in Data(bytes) }
    }
}
#endif
