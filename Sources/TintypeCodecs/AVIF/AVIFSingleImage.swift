#if AVIF && HEIF
internal import FoundationEssentials
internal import TintypeImages

/// Writes an AVIF file of a single picture, so that libavif decodes a picture of another file.
struct AVIFSingleImage {
    let size: PixelSize
    /// The contents of the box `av1C`.
    let configuration: UnsafeRawBufferPointer
    let data: UnsafeRawBufferPointer

    var file: Data {
        let beginning = Self.box("ftyp", Data("avif\0\0\0\0avifmif1".utf8))
        let length = meta(offset: 0).count
        return beginning + meta(offset: beginning.count + length + 8) + Self.box("mdat", Data(data))
    }

    /// - Parameter offset: The place of the picture's data in the file.
    private func meta(offset: Int) -> Data {
        let properties =
            Self.box("ispe", Self.number(0) + Self.number(size.width) + Self.number(size.height))
            + Self.box("av1C", Data(configuration))
        let boxes = [
            Self.box("hdlr", Data(count: 8) + Data("pict".utf8) + Data(count: 13)),
            Self.box("pitm", Data([0, 0, 0, 0, 0, 1])),
            // A single item in a single part, whose place and length have four bytes.
            Self.box(
                "iloc",
                Data([0, 0, 0, 0, 0x44, 0, 0, 1, 0, 1, 0, 0, 0, 1]) + Self.number(offset) + Self.number(data.count)),
            Self.box(
                "iinf",
                Data([0, 0, 0, 0, 0, 1]) + Self.box("infe", Data([2, 0, 0, 0, 0, 1, 0, 0]) + Data("av01\0".utf8))),
            Self.box(
                "iprp",
                Self.box("ipco", properties) + Self.box("ipma", Data([0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 2, 1, 0x82]))),
        ]
        return Self.box("meta", boxes.reduce(Data(count: 4), +))
    }

    private static func box(_ type: String, _ contents: Data) -> Data {
        number(contents.count + 8) + Data(type.utf8) + contents
    }

    private static func number(_ value: Int) -> Data {
        withUnsafeBytes(of: UInt32(clamping: value).bigEndian) { Data($0) }
    }
}
#endif
