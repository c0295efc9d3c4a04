internal import TintypeImages

/// The coding of a component's blocks, as far as a thumbnail needs them.
struct BlockCoding: Hashable {
    let differences: HuffmanCode
    let coefficients: HuffmanCode
    /// True if six coefficients are needed. These fit into a single entry of a table, and values beyond them need not be looked at.
    let isNarrow: Bool
}

/// Tables that decode several symbols at once.
///
/// A photograph has three to eight symbols for a block, of four bits on average. Looked up individually, each waits for the length of its
/// predecessor. Here, the next 13 bits select an entry that holds as many whole symbols as they contain, and their combined effect:
///
///     bits  0..<8    their length
///     bits  8..<16   how far they advance in zigzag order; ``endOfBlock`` more if the block ends; ``unusable`` if no symbol fits
///     bits 16..<64   the values of the next six coefficients, a byte for each from the top down
///
/// An entry's bytes are copied to the block as they are. For the value of a coefficient that isn't needed, its length suffices, so that
/// then only the code has to be within the 13 bits.
struct EntropyTables: Sendable {
    static let indexBits = 13
    static let endOfBlock = 129
    static let unusable: UInt64 = 65 << 8
    /// Three entries, the offset in a byte, and the index of the third have to fit into 64 bits.
    private static let longest = 22

    /// The tables of a coding, in this order.
    enum Kind: Int, CaseIterable {
        /// For the start of a block: a difference, and the following symbols.
        case difference
        /// For coefficients when some are needed.
        case needed
        /// For coefficients when none is needed.
        case skipped
    }

    let codings: [BlockCoding]
    /// The symbols individually: for each coding, the symbols of differences and of coefficients. See ``HuffmanCode/shortCodes()``.
    let symbols: [UInt16]
    /// Room for eight tables, so that an index of 16 bits is always within it.
    let entries: [UInt64]

    static let size = 1 << 16
    /// More than two codings are too rare to have room.
    private static let mostCodings = 2

    /// The tables of the last file. Cameras, and programs that don't optimize, always use the same codes (annex K), and making the tables
    /// takes as long as decoding 100 KB.
    private static let last = Lock<EntropyTables?>(nil)

    /// Returns the tables for codings, in their order.
    static func tables(for codings: [BlockCoding]) throws(NotForThumbnails) -> EntropyTables {
        guard codings.count <= mostCodings else { throw NotForThumbnails() }
        if let tables = last.withLock({ $0 }), tables.codings == codings { return tables }
        let tables = EntropyTables(codings)
        last.withLock { $0 = tables }
        return tables
    }

    private init(_ codings: [BlockCoding]) {
        var entries = [UInt64](repeating: Self.unusable, count: Self.size)
        var symbols: [UInt16] = []
        for (index, coding) in codings.enumerated() {
            let differences = coding.differences.shortCodes()
            let coefficients = coding.coefficients.shortCodes()
            symbols += differences + coefficients
            for kind in Kind.allCases {
                let base = Int(Self.base(coding: index, kind))
                for bits in 0..<1 << Self.indexBits {
                    entries[base + bits] = Self.entry(
                        bits, kind, isNarrow: coding.isNarrow, differences.span, coefficients.span)
                }
            }
        }
        self.codings = codings
        self.symbols = symbols
        self.entries = entries
    }

    /// Returns the index of the first entry of a table.
    static func base(coding: Int, _ kind: Kind) -> UInt16 {
        UInt16((coding * Kind.allCases.count + kind.rawValue) << indexBits)
    }

    private static func entry(
        _ index: Int, _ kind: Kind, isNarrow: Bool, _ differences: Span<UInt16>, _ coefficients: Span<UInt16>
    ) -> UInt64 {
        var length = 0
        var advance = 0
        var values: UInt64 = 0
        if kind == .difference {
            let code = differences[index]
            let size = Int(code & 255)
            length = Int(code >> 8) + size
            // Values have a byte.
            guard code != 0, size <= 7, length <= indexBits else { return unusable }
            values = byte(index, before: length, size, place: 0)
            advance = 1
        }
        while length < indexBits {
            let code = coefficients[(index << length) & (1 << indexBits - 1)]
            let end = length + Int(code >> 8)
            guard code != 0, end <= indexBits else { break }
            let (run, size) = (Int(code >> 4 & 15), Int(code & 15))
            if size == 0, run == 0 {
                length = end
                advance += endOfBlock
                break
            }
            // With no value, only a run of 16 zeros has a meaning (F.1.2.2.1). Values have at most 10 bits (table F.2).
            let next = advance + run + 1
            guard size > 0 || run == 15, size <= 10, next <= 63, end + size <= longest else { break }
            if kind != .skipped, size > 0 {
                if next <= 6 {
                    guard end + size <= indexBits, size <= 7 else { break }
                    values |= byte(index, before: end + size, size, place: next - 1)
                } else if !isNarrow {
                    break
                }
            }
            length = end + size
            advance = next
        }
        return length == 0 ? unusable : UInt64(length) | UInt64(advance) << 8 | values
    }

    /// The value of `size` bits before a place in an index, in any of the six bytes of an entry.
    private static func byte(_ index: Int, before end: Int, _ size: Int, place: Int) -> UInt64 {
        let bits = (index >> (indexBits - end)) & (1 << size - 1)
        return UInt64(UInt8(truncatingIfNeeded: extended(bits, size))) << UInt64(56 - 8 * place)
    }

    /// The value that `size` bits stand for (F.2.2.1, figure F.12).
    static func extended(_ bits: Int, _ size: Int) -> Int {
        size > 0 && bits < 1 << (size - 1) ? bits - (1 << size) + 1 : bits
    }
}
