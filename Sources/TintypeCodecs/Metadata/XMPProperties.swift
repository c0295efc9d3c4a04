internal import FoundationEssentials

/// The simple values of the properties of an XMP packet (XMP, part 1, section 7; ISO 16684-1).
///
/// A property is an attribute or an element of `rdf:Description`, with a text, or with several of them in `rdf:Alt`, `rdf:Bag`, or
/// `rdf:Seq`. Names count by their namespaces, not by the prefixes of a packet.
struct XMPProperties {
    /// The properties that are read, with their names in RDF: the namespace, and the local name behind it.
    enum Property: String, CaseIterable {
        case title = "http://purl.org/dc/elements/1.1/title"
        case description = "http://purl.org/dc/elements/1.1/description"
        case creator = "http://purl.org/dc/elements/1.1/creator"
        case rights = "http://purl.org/dc/elements/1.1/rights"
        case subject = "http://purl.org/dc/elements/1.1/subject"
        case rating = "http://ns.adobe.com/xap/1.0/Rating"
        case creatorTool = "http://ns.adobe.com/xap/1.0/CreatorTool"
        case createDate = "http://ns.adobe.com/xap/1.0/CreateDate"
        case dateCreated = "http://ns.adobe.com/photoshop/1.0/DateCreated"
        case make = "http://ns.adobe.com/tiff/1.0/Make"
        case model = "http://ns.adobe.com/tiff/1.0/Model"
        case lens = "http://ns.adobe.com/exif/1.0/aux/Lens"
        case lensModel = "http://cipa.jp/exif/1.0/LensModel"
        case sensitivity = "http://cipa.jp/exif/1.0/PhotographicSensitivity"
        case speedRatings = "http://ns.adobe.com/exif/1.0/ISOSpeedRatings"
        case dateOriginal = "http://ns.adobe.com/exif/1.0/DateTimeOriginal"
        case exposureTime = "http://ns.adobe.com/exif/1.0/ExposureTime"
        case aperture = "http://ns.adobe.com/exif/1.0/FNumber"
        case focalLength = "http://ns.adobe.com/exif/1.0/FocalLength"
        case latitude = "http://ns.adobe.com/exif/1.0/GPSLatitude"
        case longitude = "http://ns.adobe.com/exif/1.0/GPSLongitude"
        case altitude = "http://ns.adobe.com/exif/1.0/GPSAltitude"
        case altitudeReference = "http://ns.adobe.com/exif/1.0/GPSAltitudeRef"
    }

    private enum Role {
        /// Outside of properties.
        case outer
        case rdf
        case description
        /// The element of a property.
        case property
        /// An element within, which may have a value.
        case value
        /// An element within whose contents have another meaning.
        case other
    }

    private struct Element {
        let role: Role
        var isLeaf = true
    }

    private static let properties = Dictionary(uniqueKeysWithValues: Property.allCases.map { ($0.rawValue, $0) })
    private static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    /// A packet that nests more elements, or binds too many prefixes at once, is read up to there.
    private static let maximumDepth = 100

    private var values: [Property: [String]] = [:]
    private var elements: [Element] = []
    private var namespaces = XMLNamespaces()
    /// The property within which the packet is read; `nil` for one that isn't read.
    private var property: Property?
    private var text: [UInt8] = []
    /// True if the value that is read is in the default language.
    private var isDefault = false

    /// - Complexity: O(bytes)
    init(_ packet: Data) {
        var tokens = XMLTokens(packet)
        while elements.count <= Self.maximumDepth, !namespaces.isFull, let token = tokens.next() {
            switch token {
            case .start(let name, let attributes): begin(name, attributes)
            case .end: end()
            case .text(let text): if property != nil { self.text += text.decoded }
            }
        }
    }

    subscript(_ property: Property) -> [String] { values[property] ?? [] }

    // MARK: Elements

    private mutating func begin(_ name: XMLTokens.Name, _ attributes: [XMLTokens.Attribute]) {
        namespaces.begin(attributes)
        guard !namespaces.isFull else { return }
        let parent = elements.last?.role ?? .outer
        if !elements.isEmpty { elements[elements.count - 1].isLeaf = false }
        let role = role(of: name, in: parent)
        elements.append(Element(role: role))
        text.removeAll(keepingCapacity: true)
        switch role {
        case .description:
            for attribute in attributes where !attribute.name.prefix.isEmpty {
                guard let property = namespaces.expanded(attribute.name).flatMap({ Self.properties[$0] }) else {
                    continue
                }
                add(attribute.value.decoded, to: property)
            }
        case .property: property = namespaces.expanded(name).flatMap { Self.properties[$0] }
        case .value where property != nil:
            isDefault = attributes.contains {
                $0.name.prefix.elementsEqual("xml".utf8) && $0.name.local.elementsEqual("lang".utf8)
                    && $0.value.decoded.elementsEqual("x-default".utf8)
            }
        default: break
        }
    }

    private func role(of name: XMLTokens.Name, in parent: Role) -> Role {
        switch parent {
        case .outer: namespaces.expanded(name) == Self.rdf + "RDF" ? .rdf : .outer
        case .rdf: .description
        case .description: .property
        case .property, .value, .other:
            property != nil && [Self.rdf + "li", Self.rdf + "value"].contains(namespaces.expanded(name))
                ? .value : .other
        }
    }

    private mutating func end() {
        guard let element = elements.popLast() else { return }
        namespaces.end()
        if let property, element.isLeaf, element.role == .property || element.role == .value {
            add(text[...], to: property)
        }
        text.removeAll(keepingCapacity: true)
        if element.role == .property { property = nil }
        if element.role == .value || element.role == .property { isDefault = false }
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>, to property: Property) {
        guard let text = MetadataText.decoded(bytes) else { return }
        values[property, default: []].append(text)
        // The text of the default language comes first.
        if isDefault, let last = values[property]?.indices.last { values[property]?.swapAt(0, last) }
    }
}
