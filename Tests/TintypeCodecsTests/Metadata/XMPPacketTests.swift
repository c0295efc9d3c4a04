import Foundation
import Glibc
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("XMP packets that are written", .timeLimited)
struct XMPPacketTests {
    private let size = PixelSize(width: 30, height: 4_000)

    private func upright(_ packet: String) -> String? {
        XMPPacket.upright(Data(packet.utf8), size: size).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("Properties are found by their namespaces, with any prefix", .capability("COD-47"))
    func namespaces() {
        func packet(_ orientation: Int, _ width: Int, _ height: Int) -> String {
            """
            <r:Description xmlns:t="http://ns.adobe.com/tiff/1.0/" xmlns:tiff="urn:other" xmlns:e='http://ns.adobe.com/exif/1.0/' \
            t:Orientation='\(orientation)' tiff:Orientation="6" t:ImageLength="\(height)"><!-- a --><e:PixelXDimension>\(width)\
            </e:PixelXDimension><t:ImageWidth><r:Description><r:value>\(width)</r:value></r:Description></t:ImageWidth>
            </r:Description>
            """
        }
        #expect(upright(packet(6, 99, 8)) == packet(1, 30, 4_000))
    }

    @Test("A value is replaced whatever it is, with references, and divided by comments", .capability("COD-47"))
    func values() {
        func packet(_ orientation: String, _ width: String, _ height: String) -> String {
            """
            <x tiff:Orientation='\(orientation)' tiff:ImageWidth='\(width)'><tiff:ImageLength>\(height)</tiff:ImageLength></x>
            """
        }
        let source = packet("&#54;", "wide", " 4<!-- 5 -->0 ")
        #expect(upright(source) == packet("1", "30", "4000<!-- 5 -->"))
        #expect(Orientation(exif: nil, xmp: Data(source.utf8)) == .right)
    }

    @Test("What says what else lies in a file isn't kept in another one", .capability("COD-47"))
    func layout() throws {
        let namespaces = """
            xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" xmlns:C="http://ns.google.com/photos/1.0/container/" \
            xmlns:Item="http://ns.google.com/photos/1.0/container/item/" xmlns:G="http://ns.google.com/photos/1.0/camera/" \
            xmlns:xmpNote="http://ns.adobe.com/xmp/note/"
            """
        let contents = """
            <C:Directory><rdf:Seq><rdf:li rdf:parseType="Resource"><C:Item Item:Mime="image/jpeg" Item:Length="7"/></rdf:li>\
            <rdf:li><C:Item><Item:Length>8</Item:Length><tiff:Orientation>6</tiff:Orientation></C:Item></rdf:li></rdf:Seq></C:Directory>\
            <hdrgm:GainMapMax><rdf:Seq><rdf:li>1</rdf:li></rdf:Seq></hdrgm:GainMapMax><G:MicroVideoOffset>9</G:MicroVideoOffset>\
            <dc:title><rdf:Alt><rdf:li xml:lang="x-default">Tram</rdf:li></rdf:Alt></dc:title><hdrgm:Gamma/>
            """
        let attributes = """
            hdrgm:Version="1.0" G:MotionPhoto="1" G:MotionPhotoPresentationTimestampUs="2" G:SpecialTypeID="kept" \
            xmpNote:HasExtendedXMP="ABC" tiff:Make="Canon"
            """
        let packet = MadeXMP.packet(contents, attributes: namespaces + " " + attributes)
        let result = try #require(upright(packet))
        for gone in ["hdrgm", "Item", "Directory", "MotionPhoto", "MicroVideo", "xmpNote", "Orientation", "container"] {
            #expect(!result.contains(gone), "\(gone)")
        }
        #expect(result.contains(#"G:SpecialTypeID="kept""#))
        let fields = ImageMetadata(xmp: Data(result.utf8)).fields
        #expect(fields.title == "Tram" && fields.cameraMake == "Canon")
        // It is well-formed, and has nothing more to change.
        #expect(upright(result) == result)
    }

    @Test("A thumbnail of the source isn't kept in another file", .capability("COD-47"))
    func thumbnails() throws {
        let contents = """
            <xmp:Thumbnails><rdf:Alt><rdf:li rdf:parseType="Resource"><xmpGImg:image>AAAA</xmpGImg:image></rdf:li></rdf:Alt>\
            </xmp:Thumbnails><xmp:Rating>3</xmp:Rating>
            """
        let result = try #require(
            upright(MadeXMP.packet(contents, attributes: #"xmlns:xmpGImg="http://ns.adobe.com/xap/1.0/g/img/""#)))
        #expect(!result.contains("AAAA") && !result.contains("Thumbnails"))
        #expect(result.contains("<xmp:Rating>3</xmp:Rating>"))
    }

    @Test("Beside sRGB pixels, nothing says that they are in another color space", .capability("COD-47"))
    func colors() throws {
        let packet = Data(
            #"<x exif:ColorSpace="65535" a="1"><photoshop:ICCProfile>Adobe RGB (1998)</photoshop:ICCProfile></x>"#.utf8)
        #expect(XMPPacket.upright(packet, size: size) == packet)
        let plain = try #require(XMPPacket.upright(packet, size: size, isSRGB: true))
        let text = String(decoding: plain, as: UTF8.self)
        #expect(!text.contains("65535") && !text.contains("Adobe") && text.contains(#"a="1""#))
    }

    @Test(
        "A packet of which a part can't be understood is left out, like an Exif block",
        .capability("COD-47", "MET-29"))
    func broken() {
        let packet = MadeXMP.packet("<tiff:Make>Canon</tiff:Make>")
        #expect(upright(packet) == packet)
        let prefixes = (0..<101).map { "xmlns:p\($0)='u'" }.joined(separator: " ")
        let attributes = (0..<1_001).map { "a\($0)=''" }.joined(separator: " ")
        for wrong in [
            "", "<a>", "<a></a></a>", "<a b=c/>", "<a", "<!DOCTYPE a><a/>", "<a><!-- </a>", "<a \(prefixes)/>",
            "<a \(attributes)/>", String(packet.dropLast(40)),
        ] {
            #expect(upright(wrong) == nil, "\(wrong.prefix(40))")
        }
    }

    @Test("A packet with two bytes a character is written in UTF-8")
    func utf16() {
        let bytes = HandmadeExif.xmp(orientation: 6)
        let wide = String(decoding: bytes, as: UTF8.self).utf16.reduce(into: Data([0xFE, 0xFF])) {
            $0 += ByteBuilder.big(Int($1), 2)
        }
        #expect(XMPPacket.upright(wide, size: size) == HandmadeExif.xmp())
    }

    @Test("A description is added behind the others of a packet")
    func added() {
        func added(_ packet: String) -> String? {
            XMPPacket(Data(packet.utf8)).adding(description: "<new/>").map { String(decoding: $0, as: UTF8.self) }
        }
        let namespace = "xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'"
        #expect(
            added("<a><r:RDF \(namespace)><b/><!-- c --></r:RDF><d></d></a>")
                == "<a><r:RDF \(namespace)><b/><new/><!-- c --></r:RDF><d></d></a>")
        #expect(added("<r:RDF \(namespace)></r:RDF>") == "<r:RDF \(namespace)><new/></r:RDF>")
        for none in ["", "<a/>", "<a><r:RDF \(namespace)/><d></d></a>", "<r:RDF \(namespace)>"] {
            #expect(added(none) == nil)
        }
    }

    @Test("The time for many values grows with their number, and no faster", .capability("3.8"))
    func manyValues() {
        func seconds(_ count: Int) -> Double {
            let packet = MadeXMP.data(String(repeating: "<tiff:ImageLength>99</tiff:ImageLength>", count: count))
            // The time of this thread, whatever else the machine does.
            func now() -> Double {
                var time = timespec()
                clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
                return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
            }
            let start = now()
            let result = XMPPacket.upright(packet, size: size)
            let end = now()
            #expect(result?.count == packet.count + 2 * count)
            return end - start
        }
        // Four times as many take four times as long; sixteen times if each value moved the rest of the packet.
        let few = seconds(10_000)
        let many = seconds(40_000)
        #expect(many < 8 * few + 0.05, "\(many) s, and \(few) s for a quarter")
    }
}
