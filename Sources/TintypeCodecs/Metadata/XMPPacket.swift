internal import FoundationEssentials
internal import TintypeImages

/// The parts of an XMP packet that only hold for the file that has it: the properties that pixels depend on (XMP, part 2, sections 2.9 and
/// 2.10), and those that say what else lies in the file.
///
/// Properties count by their namespaces, as attributes or elements, wherever they stand.
struct XMPPacket {
    /// The properties that pixels depend on, with their names in RDF: the namespace, and the local name behind it.
    enum Property: String {
        case orientation = "http://ns.adobe.com/tiff/1.0/Orientation"
        case width = "http://ns.adobe.com/tiff/1.0/ImageWidth"
        case height = "http://ns.adobe.com/tiff/1.0/ImageLength"
        case pixelWidth = "http://ns.adobe.com/exif/1.0/PixelXDimension"
        case pixelHeight = "http://ns.adobe.com/exif/1.0/PixelYDimension"

        /// The value for an upright picture of a size.
        fileprivate func value(_ size: PixelSize) -> Int {
            switch self {
            case .orientation: 1
            case .width, .pixelWidth: size.width
            case .height, .pixelHeight: size.height
            }
        }
    }

    private enum Part {
        case value(Property, XMLTokens.Text)
        /// A part that is left out of another file.
        case layout(Range<Int>)
    }

    /// The starts of names that say what lies in the file: gain maps, the pictures and videos behind the image, thumbnails of the
    /// source, and further parts of the packet.
    private static let layoutNames = [
        "http://ns.adobe.com/hdr-gain-map/1.0/", "http://ns.google.com/photos/1.0/container/",
        "http://ns.google.com/photos/1.0/camera/MotionPhoto", "http://ns.google.com/photos/1.0/camera/MicroVideo",
        "http://ns.adobe.com/xmp/note/", "http://ns.adobe.com/xap/1.0/Thumbnails",
    ]
    /// The names that say which color space the source's pixels are in.
    private static let colorNames = [
        "http://ns.adobe.com/exif/1.0/ColorSpace", "http://ns.adobe.com/photoshop/1.0/ICCProfile",
    ]
    /// The prefixes of writers that forget to bind them.
    private static let usualPrefixes = [
        (prefix: "tiff", namespace: "http://ns.adobe.com/tiff/1.0/"),
        (prefix: "exif", namespace: "http://ns.adobe.com/exif/1.0/"),
        (prefix: "hdrgm", namespace: "http://ns.adobe.com/hdr-gain-map/1.0/"),
        (prefix: "Container", namespace: "http://ns.google.com/photos/1.0/container/"),
        (prefix: "Item", namespace: "http://ns.google.com/photos/1.0/container/item/"),
        (prefix: "GCamera", namespace: "http://ns.google.com/photos/1.0/camera/"),
        (prefix: "xmpNote", namespace: "http://ns.adobe.com/xmp/note/"),
        (prefix: "xmp", namespace: "http://ns.adobe.com/xap/1.0/"),
        (prefix: "photoshop", namespace: "http://ns.adobe.com/photoshop/1.0/"),
    ]
    private static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#RDF"

    /// The starts of names that are left out of another file.
    private let leftOut: [String]
    private var tokens: XMLTokens
    private var namespaces = XMLNamespaces(usual: XMPPacket.usualPrefixes)
    /// In the order of the packet. None overlap.
    private var parts: [Part] = []
    /// The element of a property that is open.
    private var property: (name: Property, depth: Int, hasValue: Bool)?
    /// The element that is open, and left out.
    private var layout: (start: Int, depth: Int)?
    /// The depth of `rdf:RDF` while it is open.
    private var rdfDepth: Int?
    /// The end of the contents of `rdf:RDF`, where another description fits.
    private var descriptionsEnd: Int?
    /// True if more elements end than start.
    private var isUnbalanced = false

    /// - Parameters:
    ///   - packet: The bytes.
    ///   - dropsColors: Whether statements about the color space are left out of another file.
    /// - Complexity: O(bytes)
    init(_ packet: Data, dropsColors: Bool = false) {
        leftOut = dropsColors ? Self.layoutNames + Self.colorNames : Self.layoutNames
        tokens = XMLTokens(packet)
        var place = 0
        while !namespaces.isFull, let token = tokens.next() {
            switch token {
            case .start(let name, let attributes): begin(name, attributes)
            case .end: end(at: place)
            case .text(let text): read(text)
            }
            place = tokens.offset
        }
    }

    /// False if tags aren't closed or are closed too often, or too many prefixes are bound at once: then its end may not have been read.
    private var isWhole: Bool {
        !tokens.isBroken && !namespaces.isFull && !isUnbalanced && namespaces.depth == 0
    }

    /// The first value of a property.
    func text(of property: Property) -> ArraySlice<UInt8>? {
        for part in parts {
            if case .value(property, let text) = part { return text.decoded }
        }
        return nil
    }

    // MARK: Other packets

    /// Returns the packet as it is written beside pixels that are upright and of a size, in a file of another layout.
    /// - Parameters:
    ///   - packet: The source's packet.
    ///   - size: The size of the pixels.
    ///   - isSRGB: Whether the pixels are sRGB, whatever the source's were. The file then says nothing of a color space.
    /// - Returns: `nil` if the packet is empty or can't be understood. It might contradict the file, and readers of XML refuse it.
    static func upright(_ packet: Data, size: PixelSize, isSRGB: Bool = false) -> Data? {
        let parsed = XMPPacket(packet, dropsColors: isSRGB)
        guard parsed.isWhole, !packet.isEmpty else { return nil }
        guard !parsed.parts.isEmpty else { return packet }
        let bytes = parsed.tokens.bytes
        var result = Data(capacity: bytes.count)
        var copied = 0
        for part in parsed.parts {
            let place: Range<Int>
            let replacement: String
            switch part {
            case .value(let property, let text): (place, replacement) = (text.place, "\(property.value(size))")
            case .layout(let range): (place, replacement) = (range, "")
            }
            result += bytes[copied..<place.lowerBound]
            result += replacement.utf8
            copied = place.upperBound
        }
        result += bytes[copied...]
        return result
    }

    /// Returns the packet with another `rdf:Description` behind its own; `nil` for a packet that has none.
    func adding(description: String) -> Data? {
        guard isWhole, let descriptionsEnd else { return nil }
        return Data(tokens.bytes[..<descriptionsEnd]) + Data(description.utf8) + Data(tokens.bytes[descriptionsEnd...])
    }

    // MARK: Elements

    private mutating func begin(_ name: XMLTokens.Name, _ attributes: [XMLTokens.Attribute]) {
        namespaces.begin(attributes)
        guard layout == nil else { return }
        let element = namespaces.expanded(name) ?? ""
        guard !isLeftOut(element) else {
            layout = (name.start - 1, namespaces.depth)
            return
        }
        if rdfDepth == nil, element == Self.rdf { rdfDepth = namespaces.depth }
        if property == nil, let name = Property(rawValue: element) { property = (name, namespaces.depth, false) }
        for attribute in attributes where !attribute.name.prefix.isEmpty {
            // Where all names of a namespace are left out, so is its prefix.
            let name =
                attribute.name.prefix.elementsEqual("xmlns".utf8)
                ? String(decoding: attribute.value.decoded, as: UTF8.self) : namespaces.expanded(attribute.name) ?? ""
            if isLeftOut(name) {
                parts.append(.layout(attribute.place))
            } else if let property = Property(rawValue: name) {
                parts.append(.value(property, attribute.value))
            }
        }
    }

    private mutating func read(_ text: XMLTokens.Text) {
        guard layout == nil, let open = property, !text.isBlank else { return }
        // A comment may divide the text.
        parts.append(open.hasValue ? .layout(text.place) : .value(open.name, text))
        property?.hasValue = true
    }

    /// - Parameter place: The place behind the last token.
    private mutating func end(at place: Int) {
        let depth = namespaces.depth
        if let open = layout, open.depth == depth {
            parts.append(.layout(open.start..<tokens.offset))
            layout = nil
        }
        if property?.depth == depth { property = nil }
        if rdfDepth == depth {
            rdfDepth = nil
            // An element that ends within its start has no contents.
            if descriptionsEnd == nil, tokens.offset > place { descriptionsEnd = place }
        }
        if depth == 0 { isUnbalanced = true }
        namespaces.end()
    }

    private func isLeftOut(_ name: String) -> Bool { leftOut.contains { name.hasPrefix($0) } }
}
