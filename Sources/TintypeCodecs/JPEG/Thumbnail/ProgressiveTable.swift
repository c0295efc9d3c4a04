/// A table of the symbols of a progressive scan (ITU-T T.81, annex G) by the next 13 bits, each with the value that follows it.
///
///     bits  0..<4    their length; 0 if they don't fit
///     bits  4..<8    the part of it that is the end of the block behind a coefficient
///     bits  8..<13   how far they advance in zigzag order; of a scan that refines, bits 8..<16 are the symbol itself
///     bit   13       ``hasValue``
///     bit   14       ``endsBlock``
///     bits 16..<32   the value or, where there is none, how many more blocks end
struct ProgressiveTable {
    enum Kind { case differences, coefficients, refinement }

    /// A coefficient follows.
    static let hasValue: UInt32 = 1 << 13
    /// The block ends, after its coefficient, if any.
    static let endsBlock: UInt32 = 1 << 14
    static let size = 1 << EntropyTables.indexBits

    let code: HuffmanCode
    let kind: Kind
    private(set) var entries: [UInt32] = []

    init(_ code: HuffmanCode, _ kind: Kind) {
        self.code = code
        self.kind = kind
        let codes = code.shortCodes()
        entries.reserveCapacity(Self.size)
        for index in 0..<Self.size {
            let (length, symbol) = (Int(codes[index] >> 8), Int(codes[index] & 255))
            guard length > 0, let size = Self.size(symbol, kind), length + size <= EntropyTables.indexBits else {
                entries.append(0)
                continue
            }
            let end = length + size
            let bits = (index >> (EntropyTables.indexBits - end)) & (1 << size - 1)
            var entry = Self.entry(symbol, bits, kind) | UInt32(end)
            let next = codes[(index << end) & (Self.size - 1)]
            // Most blocks end behind the first or second coefficient.
            if kind == .coefficients, entry & Self.hasValue != 0, next != 0, next & 255 == 0,
                end + Int(next >> 8) <= EntropyTables.indexBits
            {
                entry = entry + UInt32(next >> 8) | UInt32(next >> 8) << 4 | Self.endsBlock
            }
            entries.append(entry)
        }
    }

    /// Reads a symbol of any length.
    /// - Returns: its entry, without a length.
    @inline(never)
    func entry(_ reader: inout ScanBits) throws(NotForThumbnails) -> UInt32 {
        guard let symbol = code.symbol(at: Int(reader.bits >> 48)), let size = Self.size(symbol.value, kind) else {
            throw NotForThumbnails()
        }
        reader.skip(symbol.length)
        return Self.entry(symbol.value, reader.next(size), kind)
    }

    /// The number of bits behind a symbol; `nil` if there can't be as many (tables F.1 and F.2).
    private static func size(_ symbol: Int, _ kind: Kind) -> Int? {
        switch kind {
        case .differences: symbol
        // The end of several blocks has a number, whose highest bit is not written.
        case .coefficients where symbol & 15 == 0 && symbol < 0xF0: symbol >> 4
        case .coefficients: symbol & 15 <= 10 ? symbol & 15 : nil
        case .refinement: 0
        }
    }

    private static func entry(_ symbol: Int, _ bits: Int, _ kind: Kind) -> UInt32 {
        let (run, size) = (symbol >> 4, symbol & 15)
        switch kind {
        case .refinement: return UInt32(symbol) << 8
        case .coefficients where size == 0 && run < 15: return endsBlock | UInt32(1 << run - 1 + bits) << 16
        case .coefficients where size == 0: return UInt32(run + 1) << 8
        case .coefficients, .differences:
            let value = UInt16(truncatingIfNeeded: EntropyTables.extended(bits, size))
            let advance = kind == .differences ? 0 : UInt32(run + 1) << 8
            return hasValue | advance | UInt32(value) << 16
        }
    }
}
