import Foundation

@testable import TintypeCodecs

/// Makes Exif blocks of any fields, and hostile ones.
struct MadeExif {
    enum Value {
        case text(String)
        case bytes(type: Int, [UInt8])
        case short([Int])
        case long([Int])
        case rational([(Int, Int)])
        case signed([(Int, Int)])
        /// Any type and count, with the four bytes in place of the value or its offset.
        case raw(type: Int, count: Int, Int)
    }

    typealias Directory = [(tag: Int, value: Value)]

    var isLittleEndian = true
    var main: Directory = []
    var exif: Directory = []
    var gps: Directory = []

    var data: Data {
        var block = Data(isLittleEndian ? [0x49, 0x49, 0x2A, 0] : [0x4D, 0x4D, 0, 0x2A]) + number(8, 4)
        var main = main
        // The main directory comes first, and its size is known before the places of the others.
        let children = [(0x8769, exif), (0x8825, gps)].filter { !$0.1.isEmpty }
        for (tag, _) in children { main.append((tag, .long([0]))) }
        let (directory, place) = encoded(main, at: 8)
        block += directory
        for (index, child) in children.enumerated() {
            let entry = place + 2 + (main.count - children.count + index) * 12 + 8
            block.replaceSubrange(entry..<entry + 4, with: number(block.count, 4))
            block += encoded(child.1, at: block.count).0
        }
        return block
    }

    /// A directory with the values behind it.
    private func encoded(_ entries: Directory, at place: Int) -> (Data, Int) {
        var directory = number(entries.count, 2)
        var values = Data()
        let start = place + 2 + entries.count * 12 + 4
        for (tag, value) in entries {
            let (type, count, bytes) = parts(value)
            directory += number(tag, 2) + number(type, 2) + number(count, 4)
            if bytes.count <= 4 {
                directory += bytes + Data(count: 4 - bytes.count)
            } else {
                directory += number(start + values.count, 4)
                values += bytes
            }
        }
        return (directory + number(0, 4) + values, place)
    }

    private func parts(_ value: Value) -> (type: Int, count: Int, Data) {
        func pairs(_ pairs: [(Int, Int)]) -> Data { pairs.reduce(Data()) { $0 + number($1.0, 4) + number($1.1, 4) } }
        return switch value {
        case .text(let text): (2, text.utf8.count + 1, Data(text.utf8) + [0])
        case .bytes(let type, let bytes): (type, bytes.count, Data(bytes))
        case .short(let numbers): (3, numbers.count, numbers.reduce(Data()) { $0 + number($1, 2) })
        case .long(let numbers): (4, numbers.count, numbers.reduce(Data()) { $0 + number($1, 4) })
        case .rational(let fractions): (5, fractions.count, pairs(fractions))
        case .signed(let fractions): (10, fractions.count, pairs(fractions))
        case .raw(let type, let count, let bytes): (type, count, number(bytes, 4))
        }
    }

    private func number(_ value: Int, _ bytes: Int) -> Data {
        isLittleEndian ? ByteBuilder.little(value, bytes) : ByteBuilder.big(value, bytes)
    }
}

/// Makes XMP packets.
enum MadeXMP {
    /// The namespaces of XMP, with the prefixes that most writers give them.
    static let namespaces = """
        xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/" \
        xmlns:tiff="http://ns.adobe.com/tiff/1.0/" xmlns:exif="http://ns.adobe.com/exif/1.0/" \
        xmlns:aux="http://ns.adobe.com/exif/1.0/aux/" xmlns:exifEX="http://cipa.jp/exif/1.0/" \
        xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/"
        """

    static func packet(_ contents: String, attributes: String = "") -> String {
        """
        <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">\
        <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
        <rdf:Description rdf:about="" \(namespaces) \(attributes)>\(contents)</rdf:Description>\
        </rdf:RDF></x:xmpmeta><?xpacket end="w"?>
        """
    }

    static func data(_ contents: String, attributes: String = "") -> Data {
        Data(packet(contents, attributes: attributes).utf8)
    }
}

/// Makes datasets of IPTC-IIM, and the image resources of Photoshop around them.
enum MadeIPTC {
    static func datasets(_ datasets: [(UInt8, String)]) -> Data {
        datasets.reduce(Data([0x1C, 1, 90, 0, 3, 0x1B, 0x25, 0x47])) { data, dataset in
            data + [0x1C, 2, dataset.0] + ByteBuilder.big(dataset.1.utf8.count, 2) + Data(dataset.1.utf8)
        }
    }

    static func resource(_ number: Int, _ contents: Data, name: String = "") -> Data {
        let name = [UInt8(name.utf8.count)] + Array(name.utf8)
        let padding = { (count: Int) in Data(count: count % 2) }
        return Data("8BIM".utf8) + ByteBuilder.big(number, 2) + name + padding(name.count)
            + ByteBuilder.big(contents.count) + contents + padding(contents.count)
    }
}
