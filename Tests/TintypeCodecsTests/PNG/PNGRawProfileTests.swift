import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

@Suite("Metadata in the text of PNG, in digits", .timeLimited)
struct PNGRawProfileTests {
    private static let iptc = Data([0x1C, 2, 5, 0, 5]) + Data("Hafen".utf8)
    private static let resources =
        Data("8BIM".utf8) + ByteBuilder.big(0x0404, 2) + Data([0, 0]) + ByteBuilder.big(iptc.count) + iptc
    private static let segment = Data("http://ns.adobe.com/xap/1.0/\0".utf8)

    /// The block as ImageMagick writes it: lines of 72 digits.
    private func text(_ block: Data, length: String? = nil) -> Data {
        var text = "\nexif\n" + (length ?? String(repeating: " ", count: 4) + "\(block.count)")
        for (index, byte) in block.enumerated() {
            if index % 36 == 0 { text += "\n" }
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return Data((text + "\n").utf8)
    }

    /// A PNG with chunks of text behind its header, compressed.
    private func info(_ chunks: (String, Data)..., exif: Data? = nil) throws -> ImageInfo {
        var inserted = Data()
        for (keyword, text) in chunks {
            let stream = try #require(ZlibStream.pack(text))
            PNGChunk.append(.ztxt, Data("\(keyword)\0\0".utf8) + stream, to: &inserted)
        }
        if let exif { PNGChunk.append(.exif, exif, to: &inserted) }
        return try info(inserted)
    }

    private func info(_ chunks: Data) throws -> ImageInfo {
        var file = try PNGCoder().encode(RasterSamples.gradient(4, 4), as: .png, options: EncodeOptions())
        file.insert(contentsOf: chunks, at: 33)
        return try PNGCoder().info(of: file, context: ProcessingContext())
    }

    @Test(
        "Exif, XMP, and IPTC as ImageMagick and ExifTool write them are read, and count like others",
        .capability("MET-31"))
    func kinds() throws {
        let exif = HandmadeExif(orientation: 6).data
        let xmp = HandmadeExif.xmp()
        let segment = Data("Exif\0\0".utf8) + exif
        for (keyword, block) in [("exif", segment), ("APP1", segment), ("APP1", exif), ("exif", exif)] {
            let info = try info(("Raw profile type \(keyword)", text(block)))
            #expect(info.metadata == ImageMetadata(exif: exif) && info.orientation == .right)
        }
        #expect(try info(("Raw profile type xmp", text(xmp))).metadata == ImageMetadata(xmp: xmp))
        #expect(try info(("Raw profile type APP1", text(Self.segment + xmp))).metadata == ImageMetadata(xmp: xmp))
        for (keyword, block) in [("iptc", Self.iptc), ("iptc", Self.resources), ("8bim", Self.resources)] {
            #expect(try info(("Raw profile type \(keyword)", text(block))).metadata.fields.title == "Hafen")
        }
        // Without compression, in capital letters and in a single line.
        var plain = Data()
        let digits = exif.map { (($0 < 16 ? "0" : "") + String($0, radix: 16)).uppercased() }.joined()
        PNGChunk.append(
            .text, Data("Raw profile type exif\0\nexif\n\(exif.count)\n\(digits)".utf8), to: &plain)
        #expect(try info(plain).metadata.exif == exif)
    }

    @Test("The chunks that are made for Exif and XMP come first, wherever they stand")
    func order() throws {
        let (exif, other) = (HandmadeExif(orientation: 3).data, HandmadeExif(orientation: 6).data)
        let both = try info(("Raw profile type exif", text(other)), exif: exif)
        #expect(both.metadata.exif == exif && both.orientation == .down)
        let xmp = HandmadeExif.xmp()
        let packets = try info(
            ("Raw profile type xmp", text(HandmadeExif.xmp(orientation: 8))), ("XML:com.adobe.xmp", xmp))
        #expect(packets.metadata.xmp == xmp && packets.orientation == .up)
    }

    @Test("Lengths that lie, digits that are none, and parts are passed over", .capability("MET-29", "3.8"))
    func broken() throws {
        let block = HandmadeExif().data
        let (shorter, longer) = ("\(block.count - 1)", "\(block.count + 1)")
        for length in ["0", "-1", "", shorter, longer, "4194305", "99999999999999999999", "9x"] {
            #expect(PNGRawProfile.block(text(block, length: length)) == nil, "\(length)")
        }
        #expect(PNGRawProfile.block(text(block)) == block)
        let whole = text(block)
        // The last byte is the end of a line.
        for count in 0..<(whole.count - 1) { #expect(PNGRawProfile.block(whole.prefix(count)) == nil) }
        #expect(PNGRawProfile.block(whole.dropFirst()) == block)
        var wrong = whole
        wrong[wrong.count - 3] = UInt8(ascii: "g")
        #expect(PNGRawProfile.block(wrong) == nil)
        #expect(PNGRawProfile.block(Data("1\n1\n0".utf8)) == nil)
        #expect(PNGRawProfile.block(Data(repeating: 0x20, count: 100)) == nil)
    }

    @Test(
        "Text that inflates to more than a block has is left out, and only the first of a kind is inflated",
        .capability("3.8"))
    func bombs() throws {
        let block = HandmadeExif().data
        let blanks = text(block) + Data(repeating: 0x0A, count: PNGRawProfile.maximumTextBytes)
        #expect(try info(("Raw profile type exif", blanks)).metadata == ImageMetadata())
        let repeated = try info(("Raw profile type exif", blanks), ("Raw profile type exif", text(block)))
        #expect(repeated.metadata == ImageMetadata())
        let largest = Data("II*\0".utf8) + Data(count: ImageMetadata.maximumBlockBytes - 4)
        let digits = Data("\nexif\n\(largest.count)\n49492a00".utf8)
        #expect(PNGRawProfile.block(digits + Data(repeating: 0x30, count: (largest.count - 4) * 2)) == largest)
    }
}
