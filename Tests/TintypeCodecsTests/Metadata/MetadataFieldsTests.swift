import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("The fields of metadata", .timeLimited)
struct MetadataFieldsTests {
    static let main: MadeExif.Directory = [
        (0x010E, .text("A tram")), (0x010F, .text("Canon  ")), (0x0110, .text("EOS R5")),
        (0x0131, .text("Firmware 1.8")),
        (0x013B, .text("Ada; Grace ;")), (0x8298, .text("Ada\0The paper")),
    ]
    static let capture: MadeExif.Directory = [
        (0x829A, .rational([(1, 250)])), (0x829D, .rational([(28, 10)])), (0x8827, .short([400])),
        (0x9003, .text("2024:05:01 12:30:15")), (0x9004, .text("2025:01:01 00:00:00")), (0x9011, .text("+02:00")),
        (0x9291, .text("25")), (0x920A, .rational([(50, 1)])), (0xA434, .text("RF50mm F1.8")),
    ]
    static let place: MadeExif.Directory = [
        (1, .text("S")), (2, .rational([(33, 1), (51, 1), (3_540, 100)])), (3, .text("E")),
        (4, .rational([(151, 1), (125, 10), (0, 0)])), (5, .bytes(type: 1, [1])), (6, .rational([(25, 2)])),
    ]

    private func fields(_ block: MadeExif) -> ImageMetadata.Fields { ImageMetadata(exif: block.data).fields }

    private func fields(xmp contents: String, attributes: String = "") -> ImageMetadata.Fields {
        ImageMetadata(xmp: MadeXMP.data(contents, attributes: attributes)).fields
    }

    private func date(_ text: String) -> DateComponents? { DateComponents(metadata: text) }

    // MARK: Exif

    @Test(
        "Exif has every field but title, keywords, and rating, in both byte orders", .capability("MET-28"),
        arguments: [true, false])
    func exif(isLittleEndian: Bool) {
        let fields = fields(
            MadeExif(isLittleEndian: isLittleEndian, main: Self.main, exif: Self.capture, gps: Self.place))
        #expect(fields.description == "A tram" && fields.cameraMake == "Canon" && fields.cameraModel == "EOS R5")
        #expect(fields.software == "Firmware 1.8" && fields.authors == ["Ada", "Grace"])
        #expect(fields.copyright == "Ada\nThe paper" && fields.lensModel == "RF50mm F1.8")
        #expect(fields.exposureTime == 0.004 && fields.aperture == 2.8 && fields.iso == 400 && fields.focalLength == 50)
        #expect(fields.captureDate == date("2024-05-01T12:30:15.25+02:00"))
        #expect(fields.captureDate?.date == Date(timeIntervalSince1970: 1_714_559_415.25))
        #expect(abs(Double(fields.place?.latitude ?? 0) + 33.859_833_3) < 1e-6)
        #expect(abs(Double(fields.place?.longitude ?? 0) - 151.208_333_3) < 1e-6)
        #expect(fields.place?.altitude == -12.5)
        #expect(fields.title == nil && fields.keywords.isEmpty && fields.rating == nil)
    }

    @Test("A time without an offset is no moment, and a digitized picture has the time of that", .capability("MET-28"))
    func localTime() throws {
        let local = try #require(fields(MadeExif(exif: [(0x9004, .text("2024:02:29 23:59:60"))])).captureDate)
        #expect(local.timeZone == nil && local.calendar == nil && local.date == nil)
        #expect(local.year == 2024 && local.month == 2 && local.day == 29 && local.hour == 23 && local.second == 60)
        #expect(fields(MadeExif(exif: [(0x9003, .text("    :  :     :  :  "))])).captureDate == nil)
        let fallback = MadeExif(exif: [(0x9003, .text("0000:00:00 00:00:00")), (0x9004, .text("2020:01:02 03:04:05"))])
        #expect(fields(fallback).captureDate?.year == 2020)
        let unknown = MadeExif(exif: [(0x9003, .text("2024:05:01 12:30:15")), (0x9011, .text("   :  "))])
        #expect(fields(unknown).captureDate == date("2024-05-01T12:30:15"))
    }

    @Test(
        "What some writers do: signed numbers, capture fields in the main directory, and a colon before the hour",
        .capability("MET-28"))
    func habits() {
        #expect(
            fields(MadeExif(exif: [(0x9003, .text("2003:08:27:00:09:15"))])).captureDate == date("2003-08-27T00:09:15"))
        let main = fields(MadeExif(main: [(0x829D, .rational([(28, 10)])), (0x8827, .short([200]))]))
        #expect(main.aperture == 2.8 && main.iso == 200)
        let both = fields(MadeExif(main: [(0x8827, .short([200]))], exif: [(0x8827, .short([400]))]))
        #expect(both.iso == 400)
        // Two directories with the same place, once as SLONG, and a negative one.
        var block = MadeExif(gps: Self.place).data
        let pointer = block.range(of: Data([0x25, 0x88, 4, 0]))?.lowerBound ?? 0
        block[pointer + 2] = 9
        #expect(ImageMetadata(exif: block).fields.place != nil)
        block[pointer + 11] = 0x80
        #expect(ImageMetadata(exif: block).fields.place == nil)
        #expect(
            fields(MadeExif(exif: [(0x920A, .raw(type: 11, count: 1, Int(Float(50).bitPattern)))])).focalLength == 50)
        var altitude = Self.place.filter { $0.tag < 5 }
        altitude.append((6, .raw(type: 11, count: 1, 0x7FC0_0000)))
        #expect(fields(MadeExif(gps: altitude)).place?.altitude == .some(nil))
        #expect(fields(MadeExif(exif: [(0x8827, .raw(type: 8, count: 1, 100))])).iso == 100)
    }

    @Test("The rating of XMP comes before that of Windows in Exif", .capability("MET-28"))
    func exifRating() {
        let exif = MadeExif(main: [(0x4746, .short([3]))]).data
        #expect(ImageMetadata(exif: exif).fields.rating == 3)
        let xmp = MadeXMP.data("<xmp:Rating>5</xmp:Rating>")
        #expect(ImageMetadata(exif: exif, xmp: xmp).fields.rating == 5)
        #expect(fields(MadeExif(main: [(0x4746, .short([6]))])).rating == nil)
    }

    @Test("Of the dates of XMP, the time of the original comes first", .capability("MET-28"))
    func xmpDates() {
        let attributes = #"photoshop:DateCreated="2002-06-20" exif:DateTimeOriginal="2002-07-13T15:58:28Z""#
        #expect(fields(xmp: "", attributes: attributes).captureDate == date("2002-07-13T15:58:28Z"))
        #expect(fields(xmp: "", attributes: #"photoshop:DateCreated="2002-06-20""#).captureDate == date("2002-06-20"))
    }

    @Test("Sensitivities over 65,534, and other types of numbers")
    func numbers() {
        #expect(fields(MadeExif(exif: [(0x8827, .short([65_535])), (0x8832, .long([102_400]))])).iso == 102_400)
        #expect(fields(MadeExif(exif: [(0x8833, .long([800]))])).iso == 800)
        #expect(fields(MadeExif(exif: [(0x8833, .long([Int(UInt32.max)]))])).iso == nil)
        #expect(fields(MadeExif(exif: [(0x8827, .short([100, 0]))])).iso == 100)
        #expect(fields(MadeExif(exif: [(0x829D, .signed([(28, 10)]))])).aperture == 2.8)
        #expect(fields(MadeExif(exif: [(0x829D, .signed([(-28, 10)]))])).aperture == nil)
        #expect(fields(MadeExif(exif: [(0x829D, .short([4]))])).aperture == 4)
        #expect(fields(MadeExif(exif: [(0x829D, .text("4"))])).aperture == nil)
        for unknown in [(0, 1), (1, 0), (0, 0)] {
            #expect(fields(MadeExif(exif: [(0x829A, .rational([unknown]))])).exposureTime == nil)
        }
    }

    @Test("Texts are UTF-8, or else Latin-1; blank ones are none", .capability("MET-28"))
    func texts() {
        func make(_ type: Int, _ bytes: [UInt8]) -> String? {
            fields(MadeExif(main: [(0x010F, .bytes(type: type, bytes))])).cameraMake
        }
        #expect(make(2, Array("Zürich\0junk".utf8)) == "Zürich" && make(129, Array("Zürich".utf8)) == "Zürich")
        #expect(make(2, [0x5A, 0xFC, 0x72, 0x69, 0x63, 0x68]) == "Zürich")
        #expect(make(2, Array("   \0".utf8)) == nil && make(2, [0, 0x41, 0x42, 0x43, 0x44]) == nil)
        #expect(make(2, [UInt8](repeating: 0x41, count: 65_536))?.count == 65_536)
        #expect(make(2, [UInt8](repeating: 0x41, count: 65_537)) == nil)
        let editor = MadeExif(main: [(0x8298, .text(" \0The paper"))])
        #expect(fields(editor).copyright == "The paper")
    }

    @Test(
        "Places that are none",
        arguments: [
            [(1, .text("N")), (2, .rational([(1, 0), (0, 1), (0, 1)]))],
            [(1, .text("N")), (2, .rational([(47, 1), (1, 0), (0, 1)]))],
            [(1, .text("N")), (2, .rational([(91, 1), (0, 1), (0, 1)]))],
            [(1, .text("N")), (2, .rational([(47, 1)]))],
            [(1, .text("X")), (2, .rational([(47, 1), (0, 1), (0, 1)]))],
            [(2, .rational([(47, 1), (0, 1), (0, 1)]))], [(1, .text("N"))],
        ] as [MadeExif.Directory])
    func noPlaces(latitude: MadeExif.Directory) {
        let east: MadeExif.Directory = [(3, .text("E")), (4, .rational([(8, 1), (32, 1), (0, 1)]))]
        #expect(fields(MadeExif(gps: latitude + east)).place == nil)
        let north: MadeExif.Directory = [(1, .text("N")), (2, .rational([(47, 1), (22, 1), (0, 1)]))]
        #expect(fields(MadeExif(gps: north + east + [(6, .rational([(1, 0)]))])).place?.altitude == .some(nil))
    }

    @Test(
        "Hostile directories: circles, offsets outside, and counts of 2³²", .capability("MET-29"),
        arguments: [true, false])
    func hostileExif(isLittleEndian: Bool) {
        func fields(_ main: MadeExif.Directory) -> ImageMetadata.Fields {
            self.fields(MadeExif(isLittleEndian: isLittleEndian, main: main + [(0x0110, .text("EOS R5"))]))
        }
        // The directory of Exif is the main one.
        #expect(fields([(0x8769, .long([8])), (0x8825, .long([8]))]).cameraModel == "EOS R5")
        for offset in [0, 7, 1 << 31, Int(UInt32.max)] {
            #expect(fields([(0x8769, .long([offset]))]) == fields([]))
            #expect(fields([(0x010F, .raw(type: 2, count: 100, offset))]) == fields([]))
        }
        for type in [1, 2, 3, 5, 12, 129] {
            #expect(fields([(0x010F, .raw(type: type, count: Int(UInt32.max), 8))]) == fields([]))
        }
        #expect(fields([(0x010F, .raw(type: 99, count: 1, 8))]) == fields([]))
        #expect(fields([(0x8298, .raw(type: 2, count: 0, 0))]) == fields([]))
    }

    @Test("A block that is cut or changed anywhere is no reason to trap", .capability("MET-29"))
    func damagedExif() {
        let block = MadeExif(isLittleEndian: false, main: Self.main, exif: Self.capture, gps: Self.place).data
        for count in 0..<block.count { _ = ImageMetadata(exif: block.prefix(count)).fields }
        for place in block.indices {
            var changed = block
            changed[place] = ~changed[place]
            _ = ImageMetadata(exif: changed).fields
        }
        #expect(ImageMetadata(exif: Data("Exif\0\0".utf8) + block).fields.cameraModel == "EOS R5")
        #expect(ImageMetadata(exif: Data("no TIFF header".utf8)).fields == ImageMetadata.Fields())
    }

    // MARK: XMP

    @Test("XMP has every field, as elements", .capability("MET-28"))
    func xmpElements() {
        let fields = fields(
            xmp: """
                <dc:title><rdf:Alt><rdf:li xml:lang="de">Bahn</rdf:li><rdf:li xml:lang="x-default">Tram</rdf:li></rdf:Alt></dc:title>
                <dc:description><rdf:Alt><rdf:li xml:lang="x-default">Two &lt;red&gt; trams &#x26; a <![CDATA[<bus>]]>&#33;</rdf:li>\
                </rdf:Alt></dc:description>
                <dc:creator><rdf:Seq><rdf:li>Ada</rdf:li><rdf:li>Grace</rdf:li></rdf:Seq></dc:creator>
                <dc:rights><rdf:Alt><rdf:li xml:lang="x-default">© Ada</rdf:li></rdf:Alt></dc:rights>
                <dc:subject><rdf:Bag><rdf:li> tram </rdf:li><rdf:li/><rdf:li>city</rdf:li></rdf:Bag></dc:subject>
                <xmp:Rating>4</xmp:Rating><xmp:CreatorTool>darktable</xmp:CreatorTool>
                <exif:ISOSpeedRatings><rdf:Seq><rdf:li>200</rdf:li></rdf:Seq></exif:ISOSpeedRatings>
                <tiff:Make>Canon</tiff:Make><tiff:Model><!-- R --><rdf:Description><rdf:value>EOS R5</rdf:value></rdf:Description></tiff:Model>
                """)
        #expect(fields.title == "Tram" && fields.description == "Two <red> trams & a <bus>!")
        #expect(
            fields.authors == ["Ada", "Grace"] && fields.copyright == "© Ada" && fields.keywords == ["tram", "city"])
        #expect(fields.rating == 4 && fields.software == "darktable" && fields.iso == 200)
        #expect(fields.cameraMake == "Canon" && fields.cameraModel == "EOS R5")
    }

    @Test("XMP has fields as attributes, with any prefix of their namespaces", .capability("MET-28"))
    func xmpAttributes() {
        let packet = """
            <r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><r:Description
             xmlns:q="http://ns.adobe.com/exif/1.0/" xmlns:xmp="http://ns.adobe.com/tiff/1.0/" xmlns:p = 'http://ns.adobe.com/photoshop/1.0/'
             xmlns:l="http://ns.adobe.com/exif/1.0/aux/" q:ExposureTime="1/250" q:FNumber='28/10' q:FocalLength="50"
             q:GPSLatitude="33,51.59S" q:GPSLongitude="151,12,30E" q:GPSAltitude="25/2" q:GPSAltitudeRef="1" xmp:Make="Canon"
             xmp:Rating="3" p:DateCreated="2024-05-01T12:30:15.25+02:00" l:Lens="RF50mm &quot;F1.8&quot;"/></r:RDF>
            """
        let fields = ImageMetadata(xmp: Data(packet.utf8)).fields
        #expect(fields.exposureTime == 0.004 && fields.aperture == 2.8 && fields.focalLength == 50)
        #expect(abs((fields.place?.latitude ?? 0) + 33.859_833_3) < 1e-6 && fields.place?.altitude == -12.5)
        #expect(abs((fields.place?.longitude ?? 0) - 151.208_333_3) < 1e-6)
        // Not the rating of XMP, whose usual prefix belongs to another namespace here.
        #expect(fields.cameraMake == "Canon" && fields.rating == nil && fields.lensModel == "RF50mm \"F1.8\"")
        #expect(fields.captureDate == date("2024-05-01T12:30:15.25+02:00"))
        let rebound = self.fields(xmp: #"<dc:subject xmlns:dc="urn:other">no</dc:subject><dc:subject>yes</dc:subject>"#)
        #expect(rebound.keywords == ["yes"])
    }

    @Test("XMP with two bytes a character, with and without a byte order mark", arguments: [true, false])
    func utf16(isBigEndian: Bool) {
        let packet = MadeXMP.packet("<dc:subject><rdf:Bag><rdf:li>Zürich 🚋</rdf:li></rdf:Bag></dc:subject>")
        let bytes = packet.utf16.reduce(into: Data()) {
            $0 += isBigEndian ? ByteBuilder.big(Int($1), 2) : ByteBuilder.little(Int($1), 2)
        }
        let mark = Data(isBigEndian ? [0xFE, 0xFF] : [0xFF, 0xFE])
        #expect(ImageMetadata(xmp: bytes).fields.keywords == ["Zürich 🚋"])
        #expect(ImageMetadata(xmp: mark + bytes).fields.keywords == ["Zürich 🚋"])
        #expect(ImageMetadata(xmp: (mark + bytes).dropLast()).fields.keywords == ["Zürich 🚋"])
    }

    @Test("Ratings and places that make no sense", arguments: ["6", "-2", "nan", "1e400", "many", ""])
    func ratings(text: String) {
        #expect(fields(xmp: "<xmp:Rating>\(text)</xmp:Rating>").rating == nil)
        let attributes = #"exif:GPSLatitude="\#(text)N" exif:GPSLongitude="200,0E" exif:ExposureTime="1/0""#
        #expect(fields(xmp: "", attributes: attributes) == ImageMetadata.Fields())
        #expect(fields(xmp: "<xmp:Rating>-1</xmp:Rating>").rating == -1)
    }

    @Test(
        "An element of XMP may have a thousand attributes", .capability("MET-29"),
        arguments: [(900, true), (1_001, false)])
    func manyAttributes(count: Int, isRead: Bool) {
        let attributes = (0..<count).map { "tiff:Unknown\($0)=\"\"" }.joined(separator: " ")
        #expect((fields(xmp: "", attributes: "tiff:Make=\"Canon\" " + attributes).cameraMake == "Canon") == isRead)
    }

    @Test("Entities aren't expanded, and a document with a type declaration isn't read", .capability("MET-29"))
    func entities() {
        #expect(
            fields(xmp: "<tiff:Make>&lol;&#xFFFFFFFF;&#xD800;&amp</tiff:Make>").cameraMake
                == "&lol;&#xFFFFFFFF;&#xD800;&amp")
        let declared = """
            <!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>\
            \(MadeXMP.packet("<tiff:Make>&b;</tiff:Make>"))
            """
        #expect(ImageMetadata(xmp: Data(declared.utf8)).fields == ImageMetadata.Fields())
    }

    @Test("A packet that is cut or changed anywhere is no reason to trap", .capability("MET-29"))
    func damagedXMP() {
        let packet = MadeXMP.data(
            "<dc:title><rdf:Alt><rdf:li xml:lang='x-default'>A &amp; B</rdf:li></rdf:Alt></dc:title>",
            attributes: #"xmp:Rating="5""#)
        for count in 0..<packet.count { _ = ImageMetadata(xmp: packet.prefix(count)).fields }
        for place in packet.indices {
            for byte in "<>\"&:/\0".utf8 {
                var changed = packet
                changed[place] = byte
                _ = ImageMetadata(xmp: changed).fields
            }
        }
        // What comes before a mistake counts.
        #expect(fields(xmp: "<tiff:Make>Canon</tiff:Make><tiff:Model").cameraMake == "Canon")
    }

    @Test("Depth, prefixes, and unclosed constructs without end take linear time", .capability("MET-29"))
    func hugeXMP() {
        let deep = String(repeating: "<a>", count: 300_000)
        let prefixes = "<a " + (0..<50_000).map { "xmlns:p\($0)='u'" }.joined(separator: " ") + ">"
        let comments = String(repeating: "<!-- ", count: 200_000)
        let references = "<tiff:Make>" + String(repeating: "&", count: 100_000)
        let bound =
            "</rdf:Description><rdf:Description "
            + (0..<20_000).map { "xmlns:p\($0)='u' p\($0):a='b'" }.joined(separator: " ") + "/>"
        let defaults =
            "<dc:subject>" + String(repeating: "<rdf:li xml:lang='x-default'>a</rdf:li>", count: 20_000)
            + "</dc:subject>"
        for contents in [deep, prefixes, comments, references, bound, defaults] {
            let fields = fields(xmp: "<tiff:Model>EOS R5</tiff:Model>" + contents)
            #expect(fields.cameraModel == "EOS R5")
        }
    }

    // MARK: Dates

    @Test("Dates as far as they are known", .capability("MET-28"))
    func dates() {
        #expect(date("2024")?.year == 2024 && date("2024")?.month == nil)
        #expect(date("2024-05")?.month == 5 && date("20240000")?.month == nil && date("20240500")?.day == nil)
        #expect(date("2024-05-01")?.day == 1 && date("2024-05-01")?.hour == nil)
        #expect(date("20240501123015-0530")?.timeZone?.secondsFromGMT() == -19_800)
        let minutes = date("2024-05-01T12:30-05:00")
        #expect(minutes?.minute == 30 && minutes?.second == nil && minutes?.timeZone?.secondsFromGMT() == -18_000)
        #expect(date("2024-05-01T12:30Z")?.date == Date(timeIntervalSince1970: 1_714_566_600))
        #expect(date("2024-05-01T12:30:15.1234567891Z")?.nanosecond == 123_456_789)
        #expect(date("2024-05-01T12:30:15+99:00")?.timeZone == nil)
        for wrong in [
            "", "24", "0000-01-01", "2023-02-29", "1900-02-29", "2024-13-01", "2024-04-31", "2024-05-01T24:00", "abcd",
        ] {
            #expect(date(wrong) == nil, "\(wrong)")
        }
    }

    // MARK: IPTC and precedence

    private let iptc = MadeIPTC.datasets([
        (5, "Bahn"), (25, "one"), (25, "two"), (55, "20240501"), (60, "123015+0200"), (80, "Grace"), (116, "© IPTC"),
        (120, "From IPTC"),
    ])

    @Test("IPTC-IIM has title, keywords, date, authors, copyright, and description", .capability("MET-28"))
    func iptcFields() {
        let fields = ImageMetadata(iptc: iptc).fields
        #expect(fields.title == "Bahn" && fields.keywords == ["one", "two"] && fields.authors == ["Grace"])
        #expect(fields.copyright == "© IPTC" && fields.description == "From IPTC")
        #expect(fields.captureDate == date("2024-05-01T12:30:15+02:00"))
        for count in 0..<iptc.count { _ = ImageMetadata(iptc: iptc.prefix(count)).fields }
        let long = Data([0x1C, 2, 120, 0x80, 4, 0xFF, 0xFF, 0xFF, 0xFF])
        #expect(ImageMetadata(iptc: long).fields == ImageMetadata.Fields())
    }

    @Test(
        "Exif comes before XMP, and XMP before IPTC unless a digest says that IPTC has changed since",
        .capability("MET-30"))
    func precedence() {
        var metadata = ImageMetadata(
            exif: MadeExif(main: [(0x010E, .text("From Exif")), (0x8298, .text(" "))]).data,
            xmp: MadeXMP.data(
                "<dc:description>From XMP</dc:description><dc:rights>© XMP</dc:rights><dc:subject>three</dc:subject>"),
            iptc: iptc)
        #expect(metadata.fields.description == "From Exif" && metadata.fields.copyright == "© XMP")
        #expect(metadata.fields.keywords == ["three"] && metadata.fields.title == "Bahn")
        metadata.iptcDigest = Data(count: 16)
        #expect(metadata.fields.description == "From Exif" && metadata.fields.copyright == "© IPTC")
        #expect(metadata.fields.keywords == ["one", "two"])
        let digest = MD5.hexadecimal(iptc)
        let bytes = stride(from: 0, to: 32, by: 2).map { place in
            UInt8(digest.dropFirst(place).prefix(2), radix: 16) ?? 0
        }
        metadata.iptcDigest = Data(bytes)
        #expect(metadata.fields.copyright == "© XMP" && metadata.fields.keywords == ["three"])
    }
}
