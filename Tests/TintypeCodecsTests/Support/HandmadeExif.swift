import Foundation
import TintypeImages

/// An Exif block as a camera writes it: maker, orientation, size, a maker's note, a place, and perhaps a thumbnail.
struct HandmadeExif {
    var orientation = 1
    var size = PixelSize(width: 40, height: 30)
    var thumbnail: [UInt8]?
    var isLittleEndian = true

    /// XMP that states an orientation and a title.
    static func xmp(orientation: Int = 1) -> Data {
        Data(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            <rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="\(orientation)" title="Zug"/>\
            </rdf:RDF></x:xmpmeta>
            """.utf8)
    }

    var data: Data {
        var bytes: [UInt8] = isLittleEndian ? [0x49, 0x49, 0x2A, 0] : [0x4D, 0x4D, 0, 0x2A]
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            let little = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return isLittleEndian ? little : little.reversed()
        }
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
            number(tag, 2) + number(type, 2) + number(count, 4) + value + [UInt8](repeating: 0, count: 4 - value.count)
        }
        bytes += number(8, 4)
        bytes += number(4, 2)
        bytes += entry(0x010F, 2, 14, number(62, 4))
        bytes += entry(0x0112, 3, 1, number(orientation, 2))
        bytes += entry(0x8769, 4, 1, number(76, 4))
        bytes += entry(0x8825, 4, 1, number(138, 4))
        bytes += number(thumbnail == nil ? 0 : 192, 4)
        bytes += Array("Tintype tests\0".utf8)
        // Exif.
        bytes += number(3, 2)
        bytes += entry(0x927C, 7, 20, number(118, 4))
        bytes += entry(0xA002, 4, 1, number(size.width, 4))
        bytes += entry(0xA003, 3, 1, number(size.height, 2))
        bytes += number(0, 4)
        bytes += (0..<20).map { UInt8(200 + $0) }
        // A place.
        bytes += number(2, 2)
        bytes += entry(1, 2, 2, Array("N\0".utf8))
        bytes += entry(2, 5, 3, number(168, 4))
        bytes += number(0, 4)
        for part in [47, 10, 30] { bytes += number(part, 4) + number(1, 4) }
        guard let thumbnail else { return Data(bytes) }
        bytes += number(2, 2)
        bytes += entry(0x0201, 4, 1, number(222, 4))
        bytes += entry(0x0202, 4, 1, number(thumbnail.count, 4))
        bytes += number(0, 4)
        return Data(bytes + thumbnail)
    }
}
