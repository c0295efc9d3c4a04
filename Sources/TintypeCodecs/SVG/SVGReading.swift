#if SVG
internal import CXML
internal import FoundationEssentials
internal import Glibc
internal import TintypeImages

/// The state of reading a document.
final class SVGReading {
    private(set) var contents = SVGContents()
    private(set) var tiles = SVGTiles()
    /// The reason for which the document is refused.
    private(set) var refusal: String?
    /// True if reading stopped at a mistake in the document.
    private(set) var isIncomplete = false
    /// The texts of the style sheets.
    private(set) var styleSheets: [[UInt8]] = []
    private var styleBytes = 0
    /// The largest number of elements around an element, and itself.
    private(set) var deepest = 0
    private var open: [Int] = []
    /// The depth of the style element that is open; 0 for none.
    private var styleDepth = 0

    /// The most bytes of all style sheets, whose parts take many times as much.
    private static let maximumStyleBytes = 4 << 20

    private static let isReady: Void = xmlInitParser()

    func read(_ bytes: UnsafeRawBufferPointer) {
        Self.isReady
        guard let parser = xmlCreatePushParserCtxt(nil, nil, nil, 0, nil) else {
            refusal = "can't be read, because libxml2 has no memory"
            return
        }
        defer {
            if let document = parser.pointee.myDoc { xmlFreeDoc(document) }
            xmlFreeParserCtxt(parser)
        }
        xmlCtxtUseOptions(parser, Int32(XML_PARSE_NONET.rawValue | XML_PARSE_NOENT.rawValue))
        parser.pointee._private = Unmanaged.passUnretained(self).toOpaque()
        Self.handle(&parser.pointee.sax.pointee)
        // In parts, since the count of a part is one of 32 bits.
        var offset = 0
        while offset < bytes.count, refusal == nil {
            let part = UnsafeRawBufferPointer(rebasing: bytes[offset..<min(bytes.count, offset + 65_536)])
            _ = xmlParseChunk(parser, part.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(part.count), 0)
            guard parser.pointee.disableSAX == 0 else {
                isIncomplete = true
                return
            }
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
        handler.characters = { parser, text, count in SVGReading.of(parser)?.add(text, Int(count), parser) }
        handler.ignorableWhitespace = nil
        handler.cdataBlock = { parser, text, count in SVGReading.of(parser)?.add(text, Int(count), parser) }
        handler.comment = nil
        handler.processingInstruction = { parser, target, text in
            guard let target, let text, String(cString: target) == "xml-stylesheet" else { return }
            // The address of a style sheet that is part of the document: nothing in it is looked for.
            let bytes = String(cString: text).utf8.filter { $0 > 0x20 }.map { $0 | 0x20 }
            if bytes.firstRange(of: Array("data:".utf8)) != nil || bytes.contains(UInt8(ascii: "&")) {
                SVGReading.of(parser)?.refuse("has a style sheet in a data URL, which is not read", parser)
            }
        }
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

    private func refuse(_ reason: String, _ parser: UnsafeMutableRawPointer?) {
        refusal = refusal ?? reason
        xmlStopParser(parser?.assumingMemoryBound(to: xmlParserCtxt.self))
    }

    private func add(_ text: UnsafePointer<UInt8>?, _ count: Int, _ parser: UnsafeMutableRawPointer?) {
        guard let text, count > 0 else { return }
        if let element = open.last {
            contents.add(SVGCost(characters: Double(count)), to: element)
            // Neither spaces nor the later bytes of a character.
            let visible = UnsafeBufferPointer(start: text, count: count).count { $0 > 0x20 && $0 & 0xC0 != 0x80 }
            contents.add(characters: visible, to: element)
        }
        guard styleDepth > 0, open.count == styleDepth else { return }
        styleBytes += count
        guard styleBytes <= Self.maximumStyleBytes else {
            return refuse("has style sheets of more than \(ByteCount(Self.maximumStyleBytes))", parser)
        }
        styleSheets[styleSheets.count - 1] += UnsafeBufferPointer(start: text, count: count)
    }

    private func begin(
        _ name: UnsafePointer<UInt8>?, _ attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ count: Int,
        _ parser: UnsafeMutableRawPointer?
    ) {
        let name = name.map { String(cString: $0) } ?? ""
        let element = contents.begin(name)
        open.append(element)
        deepest = max(deepest, open.count)
        guard open.count <= SVGContents.maximumDepth else {
            return refuse("has elements within elements, more than \(SVGContents.maximumDepth) deep", parser)
        }
        if name == "style", styleDepth == 0 {
            styleDepth = open.count
            styleSheets.append([])
        }
        tiles.begin(name, depth: open.count) { Self.value(of: $0, in: attributes, count) }
        var reader = SVGAttributes(element: name)
        for index in 0..<count {
            // Name, prefix, namespace, where the value begins, where it ends.
            guard let attributes, let attribute = attributes[index * 5], let first = attributes[index * 5 + 3],
                let last = attributes[index * 5 + 4]
            else { continue }
            let value = Array(UnsafeBufferPointer(start: first, count: last - first))
            // An attribute of another namespace names nothing, except one of XML.
            let prefix = attributes[index * 5 + 1].map { String(cString: $0) }
            if let prefix, prefix != "xml", String(cString: attribute) == "id" { continue }
            reader.read(String(cString: attribute), value[...], &contents, index: element)
        }
        contents.add(reader, to: element, within: open.dropLast().last)
        if let reason = reader.refusal { return refuse(reason, parser) }
        if contents.isOverLimit {
            refuse("has more elements or references than the limit of \(SVGContents.maximumElements)", parser)
        }
    }

    /// Returns the value of an attribute without a prefix; with any, of an address.
    private static func value(
        of name: String, in attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ count: Int
    ) -> String? {
        for index in 0..<count {
            guard let attributes, let attribute = attributes[index * 5], let first = attributes[index * 5 + 3],
                let last = attributes[index * 5 + 4], attributes[index * 5 + 1] == nil || name == "href",
                strcmp(UnsafeRawPointer(attribute).assumingMemoryBound(to: CChar.self), name) == 0
            else { continue }
            return String(decoding: UnsafeBufferPointer(start: first, count: last - first), as: UTF8.self)
        }
        return nil
    }

    private func end() {
        if open.count == styleDepth { styleDepth = 0 }
        if let element = open.popLast() { contents.end(element) }
    }
}
#endif
