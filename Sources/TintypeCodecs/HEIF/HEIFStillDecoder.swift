#if HEIF
internal import FoundationEssentials
internal import TintypeImages

/// Decodes a still image of a HEIF file.
struct HEIFStillDecoder {
    let still: HEIFStill
    let options: DecodeOptions
    let context: ProcessingContext

    func run() throws(ImageError) -> Image {
        let info = still.info
        let format = info.pixelFormat(options)
        let output = info.outputSize(options, format: format)
        try info.check(context.limits, output: output, keptFrames: 1, format: format)
        // Where only the coded image may say that it is of high dynamic range, the most is reserved.
        let isUndecided = options.decodeToHDR && still.image.plan.color.isEmpty
        let reservation = try context.reserve(
            output: output, format: isUndecided ? .rgbaFloat16 : format, isCopied: false,
            source: still.image.workingSize, bitmaps: info.bitsPerComponent > 8 ? 3 : 2)
        defer { reservation.release() }
        try context.checkCancellation()
        let renderer = ItemRenderer(table: still.table, options: options, context: context)
        let picture =
            if let small = try thumbnail(renderer, to: output) { small } else {
                try renderer.render(still.image, to: output)
            }
        var properties = info.properties(options)
        properties.colorSpace = picture.colorSpace
        properties.isHighDynamicRange = options.decodeToHDR && picture.isHighDynamicRange
        return Image(pixels: picture.pixels, properties: properties)
    }

    // MARK: Thumbnail

    /// The pixels of the smallest embedded thumbnail that shows the whole image at the requested size or larger, in the colors of the
    /// image; `nil` if there is none or it is damaged.
    private func thumbnail(
        _ renderer: ItemRenderer, to output: PixelSize
    ) throws(ImageError) -> ItemRenderer.Picture? {
        let size = still.info.size
        guard output != size else { return nil }
        var best: ItemImage?
        var planner = HEIFPlanner(still.table, limits: context.limits)
        for item in still.table.items(referringTo: still.image.item, by: "thmb").prefix(8) {
            guard let image = try? planner.image(item.id) else { continue }
            let small = image.plan.view.displaySize
            let isLargeEnough = small.width >= output.width && small.height >= output.height
            // The shape is the same if the short side is off by less than a pixel.
            let skew = abs(small.width * size.height - small.height * size.width)
            let isSameShape = skew < max(size.width, size.height)
            let most = best?.plan.view.displaySize ?? size
            // libheif's thumbnails of PQ state unspecified primaries and transfer, and are coded with another matrix than the image.
            let hasSameColors = image.plan.color.isEmpty || image.plan.color == still.image.plan.color
            guard isLargeEnough, isSameShape, hasSameColors, small.pixelCount < most.pixelCount,
                (image.alpha != nil) == (still.image.alpha != nil)
            else { continue }
            best = image
        }
        guard let best else { return nil }
        do throws(ImageError) {
            let picture: ItemRenderer.Picture = try renderer.render(
                best, to: output, of: still.image.plan)
            return picture
        } catch {
            if error.isCancellation { throw error }
            return nil
        }
    }
}
#endif
