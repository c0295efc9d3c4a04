package import FoundationEssentials
package import TintypeImages

/// The gain map of a HEIC or AVIF file: a smaller image that tells by how much each pixel becomes brighter on a display with high dynamic
/// range.
///
/// Tintype applies it with ``DecodeOptions/decodeToHDR``, and decodes the image itself, in standard range, without. The gain map is found in an item of the kind `tmap` (ISO 21496-1 and ISO/IEC
/// 23008-12), or as an auxiliary image of Apple's cameras. Without the package trait `HEIF`, no gain map is found.
package struct HEIFGainMap: Sendable, Equatable {
    /// The size of the gain map, in pixels, upright.
    package let size: PixelSize
    /// The number of its components: 1 for brightness alone, 3 for each color.
    package let components: Int
    /// The description that ``parameters`` come from.
    package let standard: JPEGGainMap.Standard
    /// The parameters; `nil` if they are missing or make no sense.
    package let parameters: GainMapParameters?
    private let file: Data
    private let item: Int

    /// Finds the gain map of the primary image of a HEIC or AVIF file.
    /// - Parameters:
    ///   - file: The whole file.
    ///   - format: The format of the file. AVIF is decoded in the program, so only a gain map of AV1 is found there, a picture or a grid:
    ///     HEVC, and images that are composed of others, are left to an isolated process.
    /// - Returns: `nil` if the bytes are neither, or have no gain map that can be decoded.
    /// - Complexity: O(bytes of the header)
    package init?(of file: Data, as format: ImageFormat) {
        #if HEIF
        let found = try? file.withBytes { bytes throws(ImageError) -> HEIFGainMap? in
            guard let table = try ItemTable(ofFile: bytes) else { return nil }
            return try HEIFGainMap(table, file, format)
        }
        guard let found = found ?? nil else { return nil }
        self = found
        #else
        return nil
        #endif
    }

    /// Applies the gain map of the file, if the options ask for it.
    static func brightened(
        _ image: Image, _ data: Data, as format: ImageFormat, _ options: DecodeOptions, _ context: ProcessingContext
    ) throws(ImageError) -> Image {
        #if HEIF
        guard options.decodeToHDR, !options.keepsColorSpace, let map = HEIFGainMap(of: data, as: format)
        else { return image }
        return try GainMapParameters.applyWherePossible(map.parameters, to: image, context) { () throws(ImageError) in
            try map.decode(context: context)
        }
        #else
        return image
        #endif
    }

    var info: ImageInfo.GainMap { ImageInfo.GainMap(size: size, components: components) }

    /// Returns true if the start of a file describes a gain map, which may be behind it.
    /// - Parameter beginning: the start of the file.
    package static func mayBe(in beginning: Data) -> Bool {
        #if HEIF
        let found = try? beginning.withBytes { bytes throws(ImageError) in
            try ItemTable(ofFile: bytes)?.gainMap != nil
        }
        return found ?? false
        #else
        return false
        #endif
    }
}

#if HEIF
extension HEIFGainMap {
    private init?(_ table: ItemTable, _ file: Data, _ format: ImageFormat) throws(ImageError) {
        guard let (item, description) = table.gainMap else { return nil }
        var planner = HEIFPlanner(table, limits: DecodeLimits())
        let plan = try planner.plan(item)
        guard plan.isAV1 || format != .avif else { return nil }
        // No writer makes a map that is larger than its image.
        if let box = try table.item(table.primary).first("ispe") {
            let image = try HEIFPlanner.size(box)
            guard plan.mostPixels <= max(4 * image.pixelCount, 1 << 20) else { return nil }
        }
        size = plan.view.displaySize
        components = plan.isGray ? 1 : 3
        standard = description == nil ? .apple : .iso
        if let description {
            // A byte with the version of the item comes first.
            parameters = try table.withBytes(of: description) { bytes throws(ImageError) in
                bytes.first == 0 ? GainMapParameters(iso: [UInt8](bytes.dropFirst())) : nil
            }
        } else {
            parameters = nil
        }
        self.file = file
        self.item = item
    }

    /// Decodes the gain map.
    /// - Parameter context: the limits and the memory of the call, and its cancellation.
    /// - Returns: The values of the map, which aren't colors, as opaque pixels.
    /// - Throws: ``ImageError/Code/corruptImage`` for a damaged map, ``ImageError/Code/limitExceeded``, ``ImageError/Code/outOfMemory``,
    ///   and ``ImageError/Code/cancelled``.
    package func decode(context: ProcessingContext = ProcessingContext()) throws(ImageError) -> PixelBuffer {
        try file.withBytes { bytes throws(ImageError) in
            guard let table = try ItemTable(ofFile: bytes) else { throw .corrupt("the file has no gain map") }
            var planner = HEIFPlanner(table, limits: context.limits)
            var plan = try planner.plan(item)
            // A gray profile would convert the values, whatever the options say.
            plan.color.profile = nil
            var options = DecodeOptions()
            options.keepsColorSpace = true
            try context.limits.check(size: size, output: size)
            let reservation = try context.reserve(
                output: size, isCopied: false, source: plan.workingSize, bitmaps: plan.bits > 8 ? 3 : 2)
            defer { reservation.release() }
            let image = ItemImage(opaque: plan)
            return try ItemRenderer(table: table, options: options, context: context).render(image, to: size).pixels
        }
    }

    /// Returns the image of the file with the gain applied, as ``JPEGGainMap/applied(to:headroom:context:)`` does.
    /// - Parameters:
    ///   - image: The whole image of the file, at any size, in sRGB.
    ///   - headroom: The headroom of the display, the binary logarithm of the ratio of its brightest to diffuse white. `nil` for the whole
    ///     gain.
    ///   - context: The limits, the memory, and the check for cancellation.
    /// - Throws: the errors of ``decode(context:)``.
    package func applied(
        to image: Image, headroom: Double? = nil, context: ProcessingContext = ProcessingContext()
    ) throws(ImageError) -> Image {
        try GainMapParameters.apply(parameters, to: image, headroom: headroom, context) { () throws(ImageError) in
            try decode(context: context)
        }
    }
}

extension ItemTable {
    /// - Returns: `nil` if the file has no items.
    fileprivate init?(ofFile bytes: UnsafeRawBufferPointer) throws(ImageError) {
        guard let meta = TopLevelBoxes(bytes).first("meta"), meta.isComplete else { return nil }
        try self.init(UnsafeRawBufferPointer(rebasing: bytes[meta.payload]), of: bytes)
    }

    /// The gain map of the primary image, and the item that describes it; the latter is `nil` for an auxiliary image of Apple's cameras.
    fileprivate var gainMap: (map: Int, description: Int?)? {
        let described = items(referringTo: primary, by: "dimg").first { $0.type == "tmap" }?.id ?? primary
        let sources = references("dimg", from: described)
        if (try? item(described))?.type == "tmap", sources.count == 2 { return (sources[1], described) }
        let auxiliary = items(referringTo: primary, by: "auxl").first { $0.auxiliaryType == Self.appleGainMap }
        return auxiliary.map { ($0.id, nil) }
    }

    private static let appleGainMap = "urn:com:apple:photo:2020:aux:hdrgainmap"
}
#endif
