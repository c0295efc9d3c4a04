#if SVG
internal import CXML
internal import FoundationEssentials
internal import Glibc
internal import TintypeImages

/// The state of reading a document.
final class SVGReading {
    private(set) var contents = SVGContents()
    /// The reason why the document is refused.
    private(set) var refusal: String?
    private var open: [Int] = []

    private static let isReady: Void = xmlInitParser()

    func read(_ bytes: UnsafeRawBufferPointer) {
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

    private func refuse(_ reason: String, _ parser: UnsafeMutableRawPointer?) {
        refusal = refusal ?? reason
        xmlStopParser(parser?.assumingMemoryBound(to: xmlParserCtxt.self))
    }

    private func begin(
        _ name: UnsafePointer<UInt8>?, _ attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ count: Int,
        _ parser: UnsafeMutableRawPointer?
    ) {
        let name = name.map { String(cString: $0) } ?? ""
        let element = contents.begin()
        open.append(element)
        guard open.count <= SVGContents.maximumDepth else {
            return refuse("has elements within elements, more than \(SVGContents.maximumDepth) deep", parser)
        }
        for index in 0..<count {
            // Name, prefix, namespace, where the value starts, where it ends.
            guard let attributes, let attribute = attributes[index * 5], let first = attributes[index * 5 + 3],
                let last = attributes[index * 5 + 4]
            else { continue }
            let value = Array(UnsafeBufferPointer(start: first, count: last - first))
            // An attribute of another namespace names nothing, except XML's own.
            let prefix = attributes[index * 5 + 1].map { String(cString: $0) }
            if let prefix, prefix != "xml", String(cString: attribute) == "id" { continue }
            contents.read(String(cString: attribute), value[...], of: name, element)
        }
        if contents.isOverLimit {
            refuse("has more elements or references than the limit of \(SVGContents.maximumElements)", parser)
        }
    }

    private func end() {
        if let element = open.popLast() { contents.end(element) }
    }
}
#endif
