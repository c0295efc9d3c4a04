internal import TintypeImages

/// Says that a file is left to libjpeg-turbo: because it is of a rare kind, or because anything at all about it is irregular. The error of
/// a damaged file, and its visible part, are for a single decoder to decide.
struct NotForThumbnails: Error {
    /// Ends a decode whose result is no longer needed; the caller asks the context again, and tells. At most a third of a millisecond of a
    /// usual photograph is between two calls.
    static func checkCancellation(_ context: ProcessingContext) throws(NotForThumbnails) {
        if context.isCancelled() { throw NotForThumbnails() }
    }
}

/// The header of a JPEG file that can be decoded directly to a thumbnail (ITU-T T.81, annex B): Huffman coding with 8 bits per component,
/// gray or YCbCr, sequential with a single scan, or progressive.
///
/// This reader is strict: it accepts only what every decoder understands in the same way.
struct ThumbnailFrame {
    struct Component {
        let id: UInt8
        /// Sampling factors.
        let horizontal: Int
        let vertical: Int
        fileprivate let quantizerIndex: UInt8
        /// By zigzag position.
        fileprivate(set) var quantizer: [UInt8] = []
        /// The indices of its codes: for differences in the upper four bits, and for coefficients in the lower.
        fileprivate(set) var codes: UInt8 = 0
    }

    /// A block of an MCU.
    struct Block {
        let component: Int
        let column: Int
        let row: Int
    }

    private(set) var isProgressive = false
    private(set) var size = PixelSize.zero
    private(set) var components: [Component] = []
    /// MCUs between two restart markers; 0 for no markers.
    private(set) var restartInterval = 0
    /// The offset of the scan's data, or of the next segment in a progressive file.
    private(set) var scan = 0
    /// The size in MCUs.
    private(set) var mcus = PixelSize.zero
    private(set) var blocks: [Block] = []

    private var quantizers: [UInt8: [UInt8]] = [:]
    /// By index; 16 more for codes of coefficients.
    private var codes: [UInt8: HuffmanCode] = [:]
    private var isJFIF = false
    /// The transform of an Adobe segment: 0 for RGB, 1 for YCbCr.
    private var adobeTransform: UInt8?

    var horizontal: Int { components.reduce(1) { max($0, $1.horizontal) } }
    var vertical: Int { components.reduce(1) { max($0, $1.vertical) } }

    /// The number of blocks of a component without those that only fill an MCU, as in a scan that has no other component (A.2.2).
    func blocks(of component: Int) -> PixelSize {
        let (across, down) = (8 * horizontal, 8 * vertical)
        return PixelSize(
            width: (size.width * components[component].horizontal + across - 1) / across,
            height: (size.height * components[component].vertical + down - 1) / down)
    }

    /// Reads a file from its start: a sequential file up to the data of its scan, and a progressive file up to the header of its first
    /// scan.
    init(_ bytes: Span<UInt8>) throws(NotForThumbnails) {
        var offset = 2
        let header = try readSegments(bytes, &offset)
        guard !components.isEmpty, components.count == 1 || isYCbCr else { throw NotForThumbnails() }
        for index in components.indices {
            guard let quantizer = quantizers[components[index].quantizerIndex] else { throw NotForThumbnails() }
            components[index].quantizer = quantizer
        }
        if !isProgressive {
            try readScan(bytes, header)
            // A single interval has no markers.
            if restartInterval >= mcus.pixelCount { restartInterval = 0 }
        }
        scan = isProgressive ? offset : header.upperBound
    }

    /// Reads segments up to the header of a scan, where the offset is then.
    /// - Returns: the place of that header's contents.
    private mutating func readSegments(_ bytes: Span<UInt8>, _ offset: inout Int) throws(NotForThumbnails) -> Range<Int>
    {
        while true {
            // Any number of FF may precede a marker.
            while offset + 1 < bytes.count, bytes[offset] == 0xFF, bytes[offset + 1] == 0xFF { offset += 1 }
            guard offset + 4 <= bytes.count, bytes[offset] == 0xFF else { throw NotForThumbnails() }
            let end = offset + 2 + Self.number(bytes, offset + 2)
            guard end >= offset + 4, end <= bytes.count else { throw NotForThumbnails() }
            let payload = offset + 4..<end
            let marker = bytes[offset + 1]
            if marker == 0xDA { return payload }
            try readSegment(marker, bytes, payload)
            offset = end
        }
    }

    private mutating func readSegment(
        _ marker: UInt8, _ bytes: Span<UInt8>, _ payload: Range<Int>
    ) throws(NotForThumbnails) {
        switch marker {
        case 0xC4: try readCodes(bytes, payload)
        case 0xE1...0xED, 0xEF, 0xFE: break
        // Between scans, only codes may change.
        case _ where scan > 0: throw NotForThumbnails()
        case 0xC0...0xC2: try readFrame(bytes, payload, isProgressive: marker == 0xC2)
        case 0xDB: try readQuantizers(bytes, payload)
        case 0xDD:
            guard payload.count == 2 else { throw NotForThumbnails() }
            restartInterval = Self.number(bytes, payload.lowerBound)
        case 0xE0 where payload.count >= 14 && Self.begins(bytes, payload, with: "JFIF\0"):
            guard bytes[payload.lowerBound + 5] == 1 else { throw NotForThumbnails() }
            isJFIF = true
        case 0xEE where payload.count >= 12 && Self.begins(bytes, payload, with: "Adobe"):
            adobeTransform = bytes[payload.lowerBound + 11]
        case 0xE0, 0xEE: break
        default: throw NotForThumbnails()
        }
    }

    /// Reads the codes that stand before a scan of a progressive file.
    mutating func readCodes(_ bytes: Span<UInt8>, before scan: JPEGScans.Scan) throws(NotForThumbnails) {
        var offset = self.scan
        _ = try readSegments(bytes, &offset)
        guard offset == scan.range.lowerBound else { throw NotForThumbnails() }
        self.scan = scan.range.upperBound
    }

    /// Returns a code that has been read.
    /// - Parameter indices: see ``Component/codes``.
    func code(_ indices: UInt8, isOfDifferences: Bool) throws(NotForThumbnails) -> HuffmanCode {
        guard let code = codes[isOfDifferences ? indices >> 4 : 0x10 | indices & 15] else { throw NotForThumbnails() }
        return code
    }

    private static func number(_ bytes: Span<UInt8>, _ offset: Int) -> Int {
        Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
    }

    /// `SOF0`, `SOF1`, and `SOF2` (B.2.2).
    private mutating func readFrame(
        _ bytes: Span<UInt8>, _ payload: Range<Int>, isProgressive: Bool
    ) throws(NotForThumbnails) {
        self.isProgressive = isProgressive
        let start = payload.lowerBound
        guard components.isEmpty, payload.count >= 6, bytes[start] == 8 else { throw NotForThumbnails() }
        let count = Int(bytes[start + 5])
        guard count == 1 || count == 3, payload.count == 6 + 3 * count else { throw NotForThumbnails() }
        size = PixelSize(width: Self.number(bytes, start + 3), height: Self.number(bytes, start + 1))
        // A height of 0 comes after the scan (B.2.5); libjpeg has no more than 65,500 pixels to a side.
        guard !size.isEmpty, max(size.width, size.height) <= 65_500 else { throw NotForThumbnails() }
        for place in stride(from: start + 6, to: payload.upperBound, by: 3) {
            let (id, factors) = (bytes[place], bytes[place + 1])
            guard (1...2).contains(factors >> 4), (1...2).contains(factors & 15),
                !components.contains(where: { $0.id == id })
            else { throw NotForThumbnails() }
            // The only component is not interleaved, so that its factors say nothing (A.2.2).
            components.append(
                Component(
                    id: id, horizontal: count == 1 ? 1 : Int(factors >> 4),
                    vertical: count == 1 ? 1 : Int(factors & 15), quantizerIndex: bytes[place + 2]))
        }
        mcus = PixelSize(
            width: (size.width + 8 * horizontal - 1) / (8 * horizontal),
            height: (size.height + 8 * vertical - 1) / (8 * vertical))
        for (index, component) in components.enumerated() {
            for row in 0..<component.vertical {
                for column in 0..<component.horizontal {
                    blocks.append(Block(component: index, column: column, row: row))
                }
            }
        }
        guard blocks.count <= 10 else { throw NotForThumbnails() }
    }

    /// `DQT` (B.2.4.1).
    private mutating func readQuantizers(_ bytes: Span<UInt8>, _ payload: Range<Int>) throws(NotForThumbnails) {
        guard payload.count % 65 == 0 else { throw NotForThumbnails() }
        for place in stride(from: payload.lowerBound, to: payload.upperBound, by: 65) {
            // Tables with 16 bits, which only files of 12 bits need, have larger indices.
            guard bytes[place] < 4 else { throw NotForThumbnails() }
            quantizers[bytes[place]] = (1...64).map { bytes[place + $0] }
        }
    }

    /// `DHT` (B.2.4.2).
    private mutating func readCodes(_ bytes: Span<UInt8>, _ payload: Range<Int>) throws(NotForThumbnails) {
        var place = payload.lowerBound
        while place < payload.upperBound {
            guard place + 17 <= payload.upperBound else { throw NotForThumbnails() }
            let kind = bytes[place]
            guard kind & 0xF0 <= 0x10, kind & 15 < 4 else { throw NotForThumbnails() }
            let counts = (1...16).map { bytes[place + $0] }
            place += 17
            let end = place + counts.reduce(0) { $0 + Int($1) }
            guard end <= payload.upperBound else { throw NotForThumbnails() }
            let symbols = (place..<end).map { bytes[$0] }
            place = end
            guard let code = HuffmanCode(counts: counts, symbols: symbols), kind >= 0x10 || code.isOfDifferences else {
                throw NotForThumbnails()
            }
            codes[kind] = code
        }
    }

    private static func begins(_ bytes: Span<UInt8>, _ payload: Range<Int>, with text: String) -> Bool {
        guard payload.count >= text.utf8.count else { return false }
        return zip(payload, text.utf8).allSatisfy { bytes[$0] == $1 }
    }

    /// True if the components are luminance and color differences: as libjpeg guesses where nothing says so.
    private var isYCbCr: Bool {
        if isJFIF { return true }
        if let adobeTransform { return adobeTransform == 1 }
        return components.map(\.id) != Array("RGB".utf8)
    }

    /// `SOS` (B.2.3): all components, in the order of the frame header.
    private mutating func readScan(_ bytes: Span<UInt8>, _ payload: Range<Int>) throws(NotForThumbnails) {
        let count = components.count
        let start = payload.lowerBound
        guard payload.count == 4 + 2 * count, Int(bytes[start]) == count else { throw NotForThumbnails() }
        for index in 0..<count {
            let place = start + 1 + 2 * index
            guard bytes[place] == components[index].id else { throw NotForThumbnails() }
            components[index].codes = bytes[place + 1]
        }
        // The whole band, all bits.
        let last = payload.upperBound - 3
        guard bytes[last] == 0, bytes[last + 1] == 63, bytes[last + 2] == 0 else { throw NotForThumbnails() }
    }
}
