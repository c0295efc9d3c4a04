#if SVG
internal import CXML
internal import FoundationEssentials
internal import Glibc
internal import TintypeImages

/// The contents of an SVG document: its elements, their references, and the images that it embeds.
///
/// The document is read once with libxml2, which librsvg reads it with too, so both see the same. Nothing is loaded: external
/// entities are not declared. Errors of the document are left to librsvg.
final class SVGContents {
    struct Element {
        /// The place behind its last descendant.
        var end: Int
        /// The place of its first reference, or that of a later element.
        var firstReference: Int
    }

    /// A reference that draws another element: of `use`, or to a paint, filter, mask, clip path or marker.
    struct Reference {
        /// The element that refers, by its place in the document.
        var element: Int
        var target: [UInt8]
    }

    /// In the order of the document.
    private(set) var elements: [Element] = []
    /// In the order of their elements.
    private(set) var references: [Reference] = []
    /// By bytes, because texts of Unicode may be equal although their bytes differ.
    private(set) var ids: [[UInt8]: Int] = [:]
    /// The `data:` URLs of images.
    private(set) var images: [[UInt8]] = []
    /// The elements that haven't ended, while the document is read.
    private var open: [Int] = []
    /// The reason why the document is refused.
    private var refusal: String?

    /// More are refused by librsvg too.
    private static let maximumElements = 1_000_000
    /// libxml2 reads no deeper where it builds a tree.
    private static let maximumDepth = 256
    /// The elements that draw data of a URL: an image, or elements of another document, which XInclude puts into this one. librsvg takes no
    /// notice of other elements' data.
    private static let elementsWithData: Set = [
        "image", "feImage", "use", "pattern", "linearGradient", "radialGradient", "include",
    ]

    init(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        read(bytes)
        if let refusal { throw Self.refusal(refusal) }
    }

    static func refusal(_ reason: String) -> ImageError {
        ImageError(.limitExceeded, stage: .decode, reason: "the SVG \(reason)")
    }

    // MARK: Reading

    private static let isReady: Void = xmlInitParser()

    private func read(_ bytes: UnsafeRawBufferPointer) {
        Self.isReady
        guard let parser = xmlCreatePushParserCtxt(nil, nil, nil, 0, nil) else {
            refusal = "can't be read, because libxml2 couldn't allocate memory"
            return
        }
        defer {
            if let document = parser.pointee.myDoc { xmlFreeDoc(document) }
            xmlFreeParserCtxt(parser)
        }
        xmlCtxtUseOptions(parser, Int32(XML_PARSE_NONET.rawValue | XML_PARSE_NOENT.rawValue))
        parser.pointee._private = Unmanaged.passUnretained(self).toOpaque()
        Self.handle(&parser.pointee.sax.pointee)
        // In parts, since the count of a part has 32 bits.
        var offset = 0
        while offset < bytes.count, refusal == nil {
            let part = UnsafeRawBufferPointer(rebasing: bytes[offset..<min(bytes.count, offset + 65_536)])
            _ = xmlParseChunk(parser, part.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(part.count), 0)
            // Elements after a mistake aren't drawn.
            guard parser.pointee.disableSAX == 0 else { return }
            offset += part.count
        }
    }

    /// Elements are taken as they come, and no tree is built of them.
    private static func handle(_ handler: inout xmlSAXHandler) {
        handler.startElementNs = { parser, name, _, _, _, _, count, _, attributes in
            SVGContents.of(parser)?.begin(name, attributes, Int(count), parser)
        }
        handler.endElementNs = { parser, _, _, _ in SVGContents.of(parser)?.end() }
        handler.entityDecl = { parser, name, kind, publicID, systemID, content in
            // Others are files or addresses.
            guard kind == XML_INTERNAL_GENERAL_ENTITY.rawValue else { return }
            xmlSAX2EntityDecl(parser, name, kind, publicID, systemID, content)
        }
        handler.getParameterEntity = { _, _ in nil }
        handler.resolveEntity = { _, _, _ in nil }
        handler.externalSubset = nil
        handler.characters = nil
        handler.ignorableWhitespace = nil
        handler.cdataBlock = nil
        handler.comment = nil
        handler.processingInstruction = nil
        handler.reference = nil
        // Errors and warnings of all kinds.
        handler.serror = { _, _ in }
    }

    private static func of(_ parser: UnsafeMutableRawPointer?) -> SVGContents? {
        guard let own = parser?.assumingMemoryBound(to: xmlParserCtxt.self).pointee._private else { return nil }
        return Unmanaged<SVGContents>.fromOpaque(own).takeUnretainedValue()
    }

    private func refuse(_ reason: String, _ parser: UnsafeMutableRawPointer?) {
        refusal = refusal ?? reason
        xmlStopParser(parser?.assumingMemoryBound(to: xmlParserCtxt.self))
    }

    private func begin(
        _ name: UnsafePointer<UInt8>?, _ attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ count: Int,
        _ parser: UnsafeMutableRawPointer?
    ) {
        let name = name.map { String(cString: $0) } ?? ""
        let element = elements.count
        // The end of an unclosed element is that of the document.
        elements.append(Element(end: .max, firstReference: references.count))
        open.append(element)
        guard open.count <= Self.maximumDepth else {
            return refuse("nests elements more than \(Self.maximumDepth) deep", parser)
        }
        var link: [UInt8]?
        for index in 0..<count {
            // Name, prefix, namespace, where the value starts, where it ends.
            guard let attributes, let attribute = attributes[index * 5], let first = attributes[index * 5 + 3],
                let last = attributes[index * 5 + 4]
            else { continue }
            let value = Array(UnsafeBufferPointer(start: first, count: last - first))
            switch String(cString: attribute) {
            case "id":
                // An attribute of another namespace names nothing, except XML's own. Of several elements with the same id, the first counts.
                let prefix = attributes[index * 5 + 1].map { String(cString: $0) } ?? "xml"
                if prefix == "xml", ids[value] == nil { ids[value] = element }
            case "href":
                // The target of a link is not drawn.
                guard name != "a" else { continue }
                follow(value[...], from: element)
                let space = attributes[index * 5 + 2].map { String(cString: $0) }
                // Of the data of two, librsvg takes that without a namespace.
                if space == nil || link == nil && space == "http://www.w3.org/1999/xlink" { link = value }
            default: followFunctions(value[...], from: element)
            }
        }
        if let link, Self.elementsWithData.contains(name) {
            let address = Self.address(link[...])
            if address.prefix(5).map({ $0 | 0x20 }).elementsEqual("data:".utf8) { images.append(address) }
        }
        if max(elements.count, references.count) > Self.maximumElements {
            refuse("has more elements or references than the limit of \(Self.maximumElements)", parser)
        }
    }

    private func end() {
        if let element = open.popLast() { elements[element].end = elements.count }
    }

    // MARK: References

    private static func address(_ text: ArraySlice<UInt8>) -> [UInt8] {
        text.drop { $0 <= 0x20 }.filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
    }

    private func follow(_ text: ArraySlice<UInt8>, from element: Int) {
        let address = Self.address(text)
        guard address.first == UInt8(ascii: "#") else { return }
        references.append(Reference(element: element, target: Array(address.dropFirst())))
    }

    /// Follows each `url(…)` of a value, such as a fill.
    private func followFunctions(_ value: ArraySlice<UInt8>, from element: Int) {
        var rest = value
        while let open = rest.firstIndex(of: UInt8(ascii: "(")), references.count <= Self.maximumElements {
            let isAddress = rest[..<open].suffix(3).map { $0 | 0x20 }.elementsEqual("url".utf8)
            rest = rest[(open + 1)...]
            guard isAddress else { continue }
            guard let close = rest.firstIndex(of: UInt8(ascii: ")")) else { return }
            let quotes = [UInt8(ascii: "'"), UInt8(ascii: "\"")]
            follow(rest[..<close].filter { $0 > 0x20 && !quotes.contains($0) }[...], from: element)
            rest = rest[close...]
        }
    }
}
#endif
