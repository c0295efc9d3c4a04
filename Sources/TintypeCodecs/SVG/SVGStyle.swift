#if SVG
/// The declarations of attributes and styles, as far as they change the cost of drawing.
struct SVGStyle {
    /// The targets of references.
    private(set) var references: [[UInt8]] = []
    /// The targets that are drawn once for each vertex.
    private(set) var markers: [[UInt8]] = []
    private(set) var isLayer = false
    /// The number of operations that filters without an element of their own take for each pixel.
    private(set) var filters = 0.0
    /// The factor of the transformations.
    private(set) var scale = 1.0
    /// The most dashes for a unit of length.
    private(set) var dashDensity = 0.0
    /// The properties on which the painted area depends.
    private(set) var painting = SVGPainting()

    /// Reads the declarations of a block, without its braces.
    init(_ tokens: ArraySlice<CSSTokenizer.Token>) {
        var rest = tokens
        while let colon = rest.firstIndex(of: .mark(UInt8(ascii: ":"))) {
            let end = rest[colon...].firstIndex(of: .mark(UInt8(ascii: ";"))) ?? rest.endIndex
            if case .name(let name)? = rest[..<colon].last(where: { $0 != .space }) {
                declare(name, rest[(colon + 1)..<end])
            }
            rest = rest[min(end + 1, rest.endIndex)...]
        }
    }

    /// Reads one attribute.
    init(attribute name: String, _ value: ArraySlice<UInt8>) {
        declare(name, CSSTokenizer.tokens(value)[...])
    }

    private mutating func declare(_ name: String, _ value: ArraySlice<CSSTokenizer.Token>) {
        for token in value {
            guard case .url(let target) = token else { continue }
            references.append(target)
            if name.hasPrefix("marker") { markers.append(target) }
        }
        painting.declare(name, value)
        let value = value.filter { $0 != .space && $0 != .mark(UInt8(ascii: ",")) }
        let word: String? = if case .name(let name)? = value.first { name } else { nil }
        switch name {
        case "opacity":
            if case .number(let opacity)? = value.first, opacity >= 1 { return }
            isLayer = true
        case "mask", "filter", "-webkit-mask":
            guard word != "none" else { return }
            isLayer = true
            // A function such as `blur()` does what an element with a few primitives does.
            for case .function in value { filters += 16 }
        case "mix-blend-mode": isLayer = isLayer || word != "normal"
        case "transform": scale *= SVGTransform.scale(value)
        case "isolation": isLayer = isLayer || word != "auto"
        case "stroke-dasharray":
            let numbers = value.compactMap { token -> Double? in
                switch token {
                // Fonts and canvases are hardly smaller than a unit.
                case .part(let number), .number(let number): number
                default: nil
                }
            }
            guard !numbers.isEmpty else { return }
            let sum = numbers.reduce(0, +)
            // Without units that are counted as long as they may be, there are as many as there may be.
            let shortest = sum / (numbers.contains { $0 >= SVGNumber.longestUnit } ? SVGNumber.longestUnit : 1)
            if shortest > 0 { dashDensity = max(dashDensity, Double(numbers.count) / shortest) }
        default: break
        }
    }
}

/// The rules of a style sheet, each with its selectors.
struct SVGStyleSheet {
    /// The elements that a selector can match, as its last part tells.
    enum Subject: Equatable {
        case all
        case named(String)
        case ofClass(String)
        case withID([UInt8])
    }

    struct Rule {
        var subjects: [Subject]
        var style: SVGStyle
    }

    private(set) var rules: [Rule] = []
    /// The number of parts of all selectors.
    private(set) var parts = 0
    /// True if a selector looks at the elements around an element.
    private(set) var looksAround = false
    /// True if another style sheet is part of this one.
    private(set) var importsData = false

    /// True if blocks are in blocks, more than ``maximumDepth`` deep.
    private(set) var isTooDeep = false

    private static let maximumDepth = 20

    /// - Parameter sheets: The texts, each of which ends what it left open.
    init(_ sheets: [[UInt8]]) {
        for text in sheets { read(CSSTokenizer.tokens(text[...])[...], depth: 0) }
    }

    private mutating func read(_ tokens: ArraySlice<CSSTokenizer.Token>, depth: Int) {
        guard depth < Self.maximumDepth else {
            isTooDeep = true
            return
        }
        var start = tokens.startIndex
        var place = start
        while place < tokens.endIndex {
            switch tokens[place] {
            case .mark(UInt8(ascii: ";")):
                readStatement(tokens[start..<place])
                start = place + 1
            case .mark(UInt8(ascii: "{")):
                let end = Self.end(of: tokens, from: place)
                readBlock(tokens[start..<place], tokens[min(place + 1, end)..<end], depth: depth)
                place = min(end, tokens.endIndex - 1)
                start = place + 1
            default: break
            }
            place += 1
        }
        readStatement(tokens[start...])
    }

    /// The place of the brace that closes a block.
    private static func end(of tokens: ArraySlice<CSSTokenizer.Token>, from start: Int) -> Int {
        var depth = 0
        for place in start..<tokens.endIndex {
            if tokens[place] == .mark(UInt8(ascii: "{")) { depth += 1 }
            if tokens[place] == .mark(UInt8(ascii: "}")) { depth -= 1 }
            if depth == 0 { return place }
        }
        return tokens.endIndex
    }

    private mutating func readStatement(_ tokens: ArraySlice<CSSTokenizer.Token>) {
        guard tokens.contains(.keyword("import")) else { return }
        for token in tokens {
            switch token {
            case .url(let address), .string(let address):
                if SVGAddress(address[...]).isData { importsData = true }
            default: break
            }
        }
    }

    private mutating func readBlock(
        _ prelude: ArraySlice<CSSTokenizer.Token>, _ block: ArraySlice<CSSTokenizer.Token>, depth: Int
    ) {
        readStatement(prelude)
        if case .keyword? = prelude.first(where: { $0 != .space }) {
            // Rules within a condition, which is taken for true.
            if block.contains(.mark(UInt8(ascii: "{"))) { read(block, depth: depth + 1) }
            return
        }
        let selectors = prelude.split(separator: .mark(UInt8(ascii: ",")), omittingEmptySubsequences: true)
        rules.append(Rule(subjects: selectors.map { subject(of: $0) }, style: SVGStyle(block)))
    }

    private mutating func subject(of selector: ArraySlice<CSSTokenizer.Token>) -> Subject {
        var selector = selector.drop { $0 == .space }
        while selector.last == .space { selector.removeLast() }
        parts += max(1, selector.count)
        let combinators = [UInt8(ascii: ">"), UInt8(ascii: "+"), UInt8(ascii: "~")].map { CSSTokenizer.Token.mark($0) }
        var last = selector
        if let place = selector.lastIndex(where: { $0 == .space || combinators.contains($0) }) {
            looksAround = true
            last = selector[(place + 1)...]
        }
        // Functions and attributes may have anything in them.
        let hasMore = selector.contains { token in
            if case .function = token {
                true
            } else {
                [UInt8(ascii: "["), UInt8(ascii: ":"), UInt8(ascii: "|"), UInt8(ascii: "(")].contains {
                    .mark($0) == token
                }
            }
        }
        guard !hasMore else {
            looksAround = true
            return .all
        }
        for place in last.indices {
            if case .hash(let id) = last[place] { return .withID(id) }
        }
        for place in last.indices.dropLast() {
            // Names of classes keep their case in the document; here all are lower case.
            if last[place] == .mark(UInt8(ascii: ".")), case .name(let name) = last[place + 1] { return .ofClass(name) }
        }
        if case .name(let name)? = last.first { return .named(name) }
        return .all
    }
}

/// The address in a reference, as librsvg reads it: control characters count for nothing (URL Standard, section 4.4).
struct SVGAddress {
    let bytes: [UInt8]

    init(_ text: ArraySlice<UInt8>) {
        bytes = text.drop { $0 <= 0x20 }.filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
    }

    /// The id of an element of the document.
    var fragment: [UInt8]? { bytes.first == UInt8(ascii: "#") ? Array(bytes.dropFirst()) : nil }

    var isData: Bool { bytes.prefix(5).map { $0 | 0x20 }.elementsEqual("data:".utf8.map { $0 | 0x20 }) }
}
#endif
