#if TIFF || RAW
internal import FoundationEssentials
internal import TintypeImages

extension ImageMetadata {
    /// The metadata of a page of a TIFF file, or of a camera file that is one (XMP, part 3, section 3.2).
    /// - Parameters:
    ///   - page: The offset of the page's directory; `nil` for the first page.
    ///   - keepsMakerNotes: False to leave out makers' notes. They are large in camera files, and only make sense at their place.
    init(tiff reader: ExifReader, page: Int? = nil, keepsMakerNotes: Bool = true) {
        self.init()
        guard let main = page.map(reader.directory) ?? reader.main else { return }
        if var tree = ExifTree(reader, main) {
            if !keepsMakerNotes {
                tree.entries.removeAll { $0.tag == ExifTag.makerNote }
                tree.children[ExifTag.exif]?.entries.removeAll { $0.tag == ExifTag.makerNote }
            }
            let block = tree.block
            exif = block.count > Self.maximumBlockBytes ? nil : block
        }
        xmp = main[0x02BC].flatMap { reader.bytes.metadataBlock($0.value) }
        // The datasets have a field of their own, and Photoshop's image resources another one.
        iptc = main[0x83BB].flatMap { reader.bytes.metadataBlock($0.value) }
        if let entry = main[0x8649] {
            readIPTC(fromPhotoshop: UnsafeRawBufferPointer(rebasing: reader.bytes[entry.value]))
        }
    }
}
#endif
