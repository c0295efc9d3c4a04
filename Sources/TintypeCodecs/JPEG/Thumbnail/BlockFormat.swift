/// The numbers that are kept of a block: see `CCoefficients.h`. The raw value says how many.
enum BlockFormat: Int {
    case narrow = 8
    case wide = 16
    case broad = 32

    /// - Parameter last: the last coefficient that is needed, in zigzag order.
    init(last: Int) { self = last <= 5 ? .narrow : last <= 14 ? .wide : .broad }

    /// The last coefficient that has room in any format.
    static let lastCoefficient = 27

    /// The size of a record of ``ScanStream`` with room for these, in bytes. The smaller records are, the more of them are in the caches of the
    /// processor.
    static func recordSize(last: [Int]) -> Int { last.contains { BlockFormat(last: $0) == .broad } ? 32 : 16 }

    /// The coefficients of a block by position, in zigzag order; -1 where there is none. Those of a pair differ in their vertical frequency
    /// alone.
    var order: [Int] {
        switch self {
        case .narrow: [0, 2, 3, -1, 1, 4, 5, -1]
        case .wide: [0, 2, 3, 9, 1, 4, 8, 11, 5, 7, 12, -1, 6, 13, 10, -1]
        case .broad:
            [
                0, 2, 3, 9, 10, 20, 21, -1, 1, 4, 8, 11, 19, 22, 5, 7, 12, 18, 23, -1, 6, 13, 17, 24, 14, 16, 25, -1,
                15, 26, 27, -1,
            ]
        }
    }

    /// The number of vertical weights: those of narrow blocks are there twice.
    var weights: Int { self == .broad ? 32 : 16 }

    /// The frequencies of the kept coefficients are below this one.
    static let frequencies = 7
}
