#if AVIF || HEIF
internal import FoundationEssentials
internal import TintypeImages

/// The coding of a track's pictures and the meaning of their numbers (ISO/IEC 14496-12, section 12.1).
struct VisualSampleEntry {
    /// The coding, in four letters.
    let type: String
    let profile: Data?
    /// The statement of a `colr` box of the kind `nclx`.
    let coding: ColorCoding?
    /// The kind of pictures that an `auxi` box states (ISO/IEC 23008-12, section 7.5.3): a name in the form of a URL or URN.
    let auxiliaryType: String?
    private let boxes: [MediaBox]

    /// Fields before the boxes of an entry.
    static let fieldBytes = 78

    init(_ box: MediaBox) throws(ImageError) {
        type = box.type
        boxes = try box.boxes(from: Self.fieldBytes)
        let color = try StatedColor(boxes)
        (profile, coding) = (color.profile, color.coding)
        auxiliaryType = boxes.first { $0.type == "auxi" }.map {
            String(decoding: $0.contents.dropFirst(4).prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// The contents of the first box of a type within.
    func first(_ type: String) -> UnsafeRawBufferPointer? { boxes.first { $0.type == type }?.contents }

    /// The part of a picture that is shown, by a `clap` box; all of it without the box.
    func aperture(of size: PixelSize) throws(ImageError) -> PixelRect {
        guard let box = boxes.first(where: { $0.type == "clap" }) else { return PixelRect(size: size) }
        return try PixelRect(cleanAperture: box, of: size) ?? PixelRect(size: size)
    }
}

extension PixelRect {
    /// The part of a picture that a `clap` box states (ISO/IEC 14496-12, section 12.1.4).
    /// - Returns: `nil` if the part doesn't lie within the picture on whole pixels.
    init?(cleanAperture box: MediaBox, of size: PixelSize) throws(ImageError) {
        var reader = box.reader
        func fraction() throws(ImageError) -> Double {
            let (numerator, denominator) = (try reader.int32(), try reader.int32())
            return denominator > 0 ? Double(numerator) / Double(denominator) : .nan
        }
        let (width, height) = (try fraction(), try fraction())
        // Offsets refer to the middle.
        let x = try fraction() + (Double(size.width) - width) / 2
        let y = try fraction() + (Double(size.height) - height) / 2
        let isWhole = [width, height, x, y].allSatisfy { $0 == $0.rounded() && abs($0) < 1e9 }
        guard isWhole, width > 0, height > 0, x >= 0, y >= 0 else { return nil }
        self.init(x: Int(x), y: Int(y), size: PixelSize(width: Int(width), height: Int(height)))
        if maxX > size.width || maxY > size.height { return nil }
    }
}
#endif
