#if SVG
internal import FoundationEssentials
internal import TintypeImages

/// The contents of an SVG document: its elements, their references, and the images that it embeds.
///
/// The document is read once with libxml2, which librsvg reads it with too, so both see the same. Nothing is loaded: external
/// entities are not declared. Errors of the document are left to librsvg.
struct SVGContents {
    /// An element that draws another: `use`, or a paint, filter, mask, clip path or marker.
    struct Reference {
        /// The element that refers, by its place in the document.
        var element: Int
        var target: [UInt8]
    }

    /// The places behind the last element within each element, in the order of the document.
    private(set) var ends: [Int] = []
    /// In the order of their elements.
    private(set) var references: [Reference] = []
    /// By bytes, because texts of Unicode may be equal although their bytes differ.
    private(set) var ids: [[UInt8]: Int] = [:]
    /// The `data:` URLs of images.
    private(set) var images: [[UInt8]] = []

    /// More are refused by librsvg too.
    static let maximumElements = 1_000_000
    /// libxml2 reads no deeper where it builds a tree.
    static let maximumDepth = 256

    init(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        let reading = SVGReading()
        reading.read(bytes)
        if let refusal = reading.refusal { throw Self.refusal(refusal) }
        self = reading.contents
    }

    init() {}

    static func refusal(_ reason: String) -> ImageError {
        ImageError(.limitExceeded, stage: .decode, reason: "the SVG \(reason)")
    }

    var isOverLimit: Bool { max(ends.count, references.count) > Self.maximumElements }

    mutating func begin() -> Int {
        // The end of an unclosed element is known when the document ends.
        ends.append(.max)
        return ends.count - 1
    }

    mutating func end(_ element: Int) { ends[element] = ends.count }

    mutating func read(_ attribute: String, _ value: ArraySlice<UInt8>, of name: String, _ element: Int) {
        switch attribute {
        case "id":
            // Of several elements with the same id, the first counts.
            if ids[Array(value)] == nil { ids[Array(value)] = element }
        case "href":
            // The target of a link is not drawn.
            if name != "a" { follow(value, from: element) }
        default: followFunctions(value, from: element)
        }
    }

    private mutating func follow(_ text: ArraySlice<UInt8>, from element: Int) {
        let address = text.drop { $0 <= 0x20 }.filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        if address.first == UInt8(ascii: "#") {
            references.append(Reference(element: element, target: Array(address.dropFirst())))
        } else if address.prefix(5).map({ $0 | 0x20 }).elementsEqual("data:".utf8.map { $0 | 0x20 }) {
            images.append(Array(address))
        }
    }

    /// Follows each `url(…)` of a value, such as a fill.
    private mutating func followFunctions(_ value: ArraySlice<UInt8>, from element: Int) {
        var rest = value
        while let open = rest.firstIndex(of: UInt8(ascii: "(")), !isOverLimit {
            let isAddress = rest[..<open].suffix(3).map { $0 | 0x20 }.elementsEqual("url".utf8)
            rest = rest[(open + 1)...]
            guard isAddress else { continue }
            guard let close = rest.firstIndex(of: UInt8(ascii: ")")) else { return }
            let quotes = [UInt8(ascii: "'"), UInt8(ascii: "\"")]
            let target = rest[..<close].filter { $0 > 0x20 && !quotes.contains($0) }
            if target.first == UInt8(ascii: "#") { follow(target[...], from: element) }
            rest = rest[close...]
        }
    }
}
#endif
