#if HEIF
internal import TintypeImages

/// The planes of a decoded picture, and their memory.
final class CodedPicture {
    /// Valid as long as the object.
    let planes: PlanarPicture
    /// The picture's own statement of its colors.
    let coding: ColorCoding
    private let owner: AnyObject

    init(planes: PlanarPicture, coding: ColorCoding, owner: AnyObject) {
        self.planes = planes
        self.coding = coding
        self.owner = owner
    }

    /// Decodes a picture of a file.
    /// - Parameter skipsLoopFilters: True for a picture that is made much smaller. Decoders of AV1 have no such choice.
    static func decode(
        _ item: HEIFCodedItem, in table: ItemTable, skipsLoopFilters: Bool, _ context: ProcessingContext
    ) throws(ImageError) -> CodedPicture {
        try context.checkCancellation()
        let picture =
            switch item.coding {
            case .hevc(let configuration, let pictures):
                try hevc(
                    item, HEVCStream(configuration, pictures: pictures, skipsLoopFilters: skipsLoopFilters), table)
            case .av1: try av1(item, table, context)
            }
        guard picture.planes.size == item.size, picture.planes.bits == item.bits,
            picture.planes.layout == item.layout
        else {
            throw .corrupt(
                "the HEIF file states a size of \(item.size), but its image has \(picture.planes.size) pixels")
        }
        return picture
    }

    private static func hevc(
        _ item: HEIFCodedItem, _ stream: HEVCStream, _ table: ItemTable
    ) throws(ImageError) -> CodedPicture {
        try table.withBytes(of: item.item) { bytes throws(ImageError) in try stream.decode(sample: bytes, rank: 0) }
        try stream.flush()
        guard let picture = try stream.next() else {
            throw .corrupt("the HEIF file is damaged: its image can't be decoded")
        }
        return CodedPicture(planes: picture.planes, coding: picture.coding, owner: stream)
    }

    private static func av1(
        _ item: HEIFCodedItem, _ table: ItemTable, _ context: ProcessingContext
    ) throws(ImageError) -> CodedPicture {
        #if AVIF
        let configuration = try table.item(item.item).first("av1C")?.contents
        guard let configuration else { throw .corrupt("an AV1 image of the HEIF file has no configuration ('av1C')") }
        let file = try table.withBytes(of: item.item) { bytes throws(ImageError) in
            AVIFSingleImage(size: item.size, configuration: configuration, data: bytes).file
        }
        let reader = try AVIFReader(file, limits: context.limits, decoder: .automatic)
        guard let image = try reader.image(at: 0, context) else { throw .corrupt("the HEIF file has no AV1 image") }
        return CodedPicture(
            planes: try PlanarPicture(avif: image.pointee), coding: reader.coding, owner: reader)
        #else
        throw ImageError(.formatNotEnabled, stage: .decode, reason: "reading AV1 requires the package trait AVIF")
        #endif
    }
}
#endif
