#if SVG
internal import CXML
internal import FoundationEssentials
internal import TintypeCore

/// The contents of an SVG document: its elements, their references, and the images that it embeds.
///
/// The document is read once with libxml2, which librsvg reads it with too, so both see the same. Nothing is loaded: external
/// entities are not declared. What is wrong with the document is left to librsvg to tell.
struct SVGContents {
    /// An element that draws another one: `use`, or a paint, filter, mask, clip path or marker.
    struct Reference {
        /// The element that refers, by its place in the document.
        var element: Int
        var target: String
    }

    /// For each element, in the order of the document, the place after the last one within it.
    private(set) var ends: [Int] = []
    /// In the order of the document.
    private(set) var references: [Reference] = []
    private(set) var elements: [String: Int] = [:]
    /// The `data:` URLs of images.
    private(set) var images: [[UInt8]] = []

    /// More are refused by librsvg too.
    static let maximumElements = 1_000_000
    /// libxml2 reads no deeper where it builds a tree.
    fileprivate static let maximumDepth = 256

    init(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        let reading = SVGReading()
        reading.read(bytes)
        guard !reading.isOverLimit else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the SVG has more elements or references than the limit of \(Self.maximumElements)")
        }
        self = reading.contents
    }

    fileprivate init() {}

    fileprivate mutating func begin() -> Int {
        ends.append(0)
        return ends.count - 1
    }

    fileprivate mutating func end(_ element: Int) { ends[element] = ends.count }

    fileprivate mutating func name(_ element: Int, _ id: String) {
        // Of several elements with one id, the first counts.
        if elements[id] == nil { elements[id] = element }
    }

    fileprivate mutating func refer(from element: Int, to target: String) {
        references.append(Reference(element: element, target: target))
    }

    fileprivate mutating func add(image: [UInt8]) { images.append(image) }
}

/// The state of reading a document.
private final class SVGReading {
    var contents = SVGContents()
    var isOverLimit = false
    private var open: [Int] = []

    private static let isReady: Void = xmlInitParser()

    func read(_ bytes: UnsafeRawBufferPointer) {
        Self.isReady
        guard let parser = xmlCreatePushParserCtxt(nil, nil, nil, 0, nil) else { return }
        defer {
            if let document = parser.pointee.myDoc { xmlFreeDoc(document) }
            xmlFreeParserCtxt(parser)
        }
        xmlCtxtUseOptions(parser, Int32(XML_PARSE_NONET.rawValue | XML_PARSE_NOENT.rawValue))
        parser.pointee._private = Unmanaged.passUnretained(self).toOpaque()
        Self.handle(&parser.pointee.sax.pointee)
        // In parts, since the count of a part is one of 32 bits.
        var offset = 0
        while offset < bytes.count, !isOverLimit {
            let part = UnsafeRawBufferPointer(rebasing: bytes[offset..<min(bytes.count, offset + 65_536)])
            _ = xmlParseChunk(parser, part.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(part.count), 0)
            guard parser.pointee.disableSAX == 0 else { return }
            offset += part.count
        }
    }

    /// Elements are taken as they come, and no tree is built of them.
    private static func handle(_ handler: inout xmlSAXHandler) {
        handler.startElementNs = { parser, name, _, _, _, _, count, _, attributes in
            SVGReading.of(parser)?.begin(name, attributes, Int(count), parser)
        }
        handler.endElementNs = { parser, _, _, _ in SVGReading.of(parser)?.end() }
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
        handler.warning = nil
        handler.error = nil
        handler.fatalError = nil
        handler.serror = { _, _ in }
    }

    private static func of(_ parser: UnsafeMutableRawPointer?) -> SVGReading? {
        guard let own = parser?.assumingMemoryBound(to: xmlParserCtxt.self).pointee._private else { return nil }
        return Unmanaged<SVGReading>.fromOpaque(own).takeUnretainedValue()
    }

    private func begin(
        _ name: UnsafePointer<UInt8>?, _ attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ count: Int,
        _ parser: UnsafeMutableRawPointer?
    ) {
        let element = contents.begin()
        open.append(element)
        guard open.count <= SVGContents.maximumDepth else { return stop(parser) }
        // The target of a link is not drawn.
        let isAnchor = name.map { String(cString: $0) == "a" } ?? false
        for index in 0..<count {
            // Name, prefix, namespace, where the value begins, where it ends.
            guard let attributes, let name = attributes[index * 5], let first = attributes[index * 5 + 3],
                let last = attributes[index * 5 + 4]
            else { continue }
            let value = UnsafeBufferPointer(start: first, count: last - first)
            switch String(cString: name) {
            case "id": contents.name(element, String(decoding: value, as: UTF8.self))
            case "href": if !isAnchor { follow(value.drop { $0 <= 0x20 }, from: element) }
            default: paint(value, from: element)
            }
        }
        guard
            contents.ends.count > SVGContents.maximumElements
                || contents.references.count > SVGContents.maximumElements
        else { return }
        isOverLimit = true
        stop(parser)
    }

    private func stop(_ parser: UnsafeMutableRawPointer?) {
        xmlStopParser(parser?.assumingMemoryBound(to: xmlParserCtxt.self))
    }

    private func end() {
        if let element = open.popLast() { contents.end(element) }
    }

    private func follow(_ text: Slice<UnsafeBufferPointer<UInt8>>, from element: Int) {
        if text.first == UInt8(ascii: "#") {
            contents.refer(from: element, to: String(decoding: text.dropFirst(), as: UTF8.self))
        } else if text.prefix(5).map({ $0 | 0x20 }).elementsEqual("data:".utf8) {
            contents.add(image: Array(text))
        }
    }

    /// Finds each `url(#id)` of a value.
    private func paint(_ value: UnsafeBufferPointer<UInt8>, from element: Int) {
        var rest = value[...]
        while let open = rest.firstIndex(of: UInt8(ascii: "(")) {
            defer { rest = rest[(open + 1)...] }
            guard rest[..<open].suffix(3).map({ $0 | 0x20 }).elementsEqual("url".utf8) else { continue }
            let quoted = rest[(open + 1)...].drop { $0 <= 0x20 || $0 == UInt8(ascii: "'") || $0 == UInt8(ascii: "\"") }
            let end = quoted.firstIndex {
                $0 == UInt8(ascii: ")") || $0 == UInt8(ascii: "'") || $0 == UInt8(ascii: "\"")
            }
            follow(quoted[..<(end ?? quoted.endIndex)], from: element)
        }
    }
}
#endif
