internal import FoundationEssentials
internal import TintypeImages

/// The scans of a progressive JPEG file (ITU-T T.81, annex G), found by their markers without decoding any.
struct JPEGScans {
    struct Scan {
        /// From its marker up to the next that is not part of the scan.
        var range: Range<Int>
        /// The components that it holds, as positions in the frame header.
        var components: [Int]
        /// For each of them, the indices of its codes: for differences in the upper four bits, and for coefficients in the lower.
        var codes: [UInt8]
        /// The coefficients, in zigzag order.
        var band: ClosedRange<Int>
        /// The bits of the coefficients that are still missing after this scan.
        var missingBits: Int
        /// True if it adds a bit to earlier scans' coefficients.
        var isRefinement: Bool

        /// The band as a set of bits.
        var coefficients: UInt64 { (~0 << UInt64(band.lowerBound)) & (~0 >> UInt64(63 - band.upperBound)) }
        var isMeans: Bool { band.lowerBound == 0 }
        /// The offset of its data, behind its header.
        var dataStart: Int { range.lowerBound + 8 + 2 * components.count }
    }

    struct Sampling {
        var id: UInt8
        var factors: JPEGSampling
    }

    private(set) var scans: [Scan] = []
    private(set) var components: [Sampling] = []

    /// No more scans than this are looked at: libjpeg is to judge the file.
    private static let mostScans = 1_000

    /// - Returns: `nil` if the file is not progressive, ends before its end marker, or has anything out of order.
    /// - Complexity: O(bytes), at the speed of `memchr`.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var offset = 2
        while true {
            guard let marker = Self.marker(in: bytes, at: offset) else { return nil }
            offset += 2
            if marker == 0xD9 { break }
            guard let length = bytes.bigEndian16(at: offset), length >= 2, offset + length <= bytes.count else {
                return nil
            }
            let payload = offset + 2..<offset + length
            switch marker {
            case 0xC2, 0xCA:
                guard components.isEmpty, readFrame(payload, of: bytes) else { return nil }
            case 0xC0...0xCF where marker != 0xC4 && marker != 0xCC: return nil
            case 0xDA:
                guard scans.count < Self.mostScans, let scan = scan(payload, of: bytes) else { return nil }
                offset = Self.endOfData(in: bytes, from: payload.upperBound)
                scans.append(scan)
                scans[scans.count - 1].range = payload.lowerBound - 4..<offset
                continue
            case 0xC4, 0xCC, 0xDB, 0xDD, 0xE0...0xEF, 0xFE: break
            default: return nil
            }
            offset += length
        }
        guard !scans.isEmpty else { return nil }
    }

    /// The file without the scans that a thumbnail does not need.
    /// - Parameter eighths: the scale of libjpeg's decode.
    /// - Returns: `nil` if it needs all.
    func file(of bytes: UnsafeRawBufferPointer, eighths: Int, isFast: Bool) -> Data? {
        let keeps = keeps(eighths: eighths, isFast: isFast)
        guard keeps.contains(false) else { return nil }
        var file = Data()
        file.reserveCapacity(bytes.count - zip(scans, keeps).reduce(0) { $0 + ($1.1 ? 0 : $1.0.range.count) })
        var start = 0
        for (scan, isKept) in zip(scans, keeps) where !isKept {
            file.append(contentsOf: bytes[start..<scan.range.lowerBound])
            start = scan.range.upperBound
        }
        file.append(contentsOf: bytes[start...])
        return file
    }

    func keeps(eighths: Int, isFast: Bool) -> [Bool] {
        keeps { isWanted($0, eighths: eighths, isFast: isFast) }
    }

    /// Which of the scans are decoded: those that are wanted, the means, and the scans that these build on.
    ///
    /// A scan that refines can only be read where all has come that it refines, for it does not say again which coefficients are not
    /// zero.
    func keeps(_ isWanted: (Scan) -> Bool) -> [Bool] {
        var keeps = [Bool](repeating: true, count: scans.count)
        var built = [UInt64](repeating: 0, count: components.count)
        for (index, scan) in scans.enumerated().reversed() {
            let isBuiltOn = scan.components.contains { built[$0] & scan.coefficients != 0 }
            keeps[index] = isBuiltOn || scan.isMeans || isWanted(scan)
            guard keeps[index], scan.isRefinement, !scan.isMeans else { continue }
            for component in scan.components { built[component] |= scan.coefficients }
        }
        return keeps
    }

    private func isWanted(_ scan: Scan, eighths: Int, isFast: Bool) -> Bool {
        let samplings = components.map(\.factors)
        let side = scan.components.map { samplings[$0].side(among: samplings, eighths) }.max() ?? 8
        // A block that becomes a single pixel is its mean, and nothing else.
        guard side > 1 else { return false }
        guard eighths < 8, isFast else { return true }
        // Of the luminance those coefficients count whose waves the smaller blocks can show, and of these the first bits; of the
        // colors, which vary less, only those that are cheap because they come by themselves.
        let isLuminance = scan.components.contains(0)
        guard isLuminance || scan.band.upperBound <= Self.narrowBand else { return false }
        return scan.coefficients & Self.shown(side) != 0 && (!scan.isRefinement || scan.missingBits >= 2)
    }

    /// Up to here a band holds few coefficients: the first three diagonals.
    private static let narrowBand = 9

    /// The coefficients, in zigzag order, of waves that a block of `side`×`side` pixels can show.
    private static func shown(_ side: Int) -> UInt64 {
        switch side {
        case 1: 0b1
        case 2: 0b1_0111
        case 4: 0b1_0000_0110_0011_1011_1111_1111
        default: ~0
        }
    }

    // MARK: Reading

    /// `SOF2` or `SOF10` (section B.2.2).
    private mutating func readFrame(_ payload: Range<Int>, of bytes: UnsafeRawBufferPointer) -> Bool {
        guard payload.count >= 6 else { return false }
        let count = Int(bytes[payload.lowerBound + 5])
        guard (1...4).contains(count), payload.count == 6 + 3 * count else { return false }
        for index in 0..<count {
            let offset = payload.lowerBound + 6 + 3 * index
            let sampling = Sampling(
                id: bytes[offset],
                factors: JPEGSampling(horizontal: Int(bytes[offset + 1] >> 4), vertical: Int(bytes[offset + 1] & 15)))
            guard (1...4).contains(sampling.factors.horizontal), (1...4).contains(sampling.factors.vertical),
                !components.contains(where: { $0.id == sampling.id })
            else { return false }
            components.append(sampling)
        }
        return true
    }

    /// `SOS` (section B.2.3), with the rules of progressive files (section G.1.1.1).
    private func scan(_ payload: Range<Int>, of bytes: UnsafeRawBufferPointer) -> Scan? {
        guard let count = bytes[payload].first.map(Int.init), (1...4).contains(count), payload.count == 4 + 2 * count
        else { return nil }
        var scanned: [Int] = []
        var codes: [UInt8] = []
        for index in 0..<count {
            let id = bytes[payload.lowerBound + 1 + 2 * index]
            guard let component = components.firstIndex(where: { $0.id == id }), !scanned.contains(component)
            else { return nil }
            scanned.append(component)
            codes.append(bytes[payload.lowerBound + 2 + 2 * index])
        }
        let (first, last) = (Int(bytes[payload.upperBound - 3]), Int(bytes[payload.upperBound - 2]))
        let (before, after) = (Int(bytes[payload.upperBound - 1] >> 4), Int(bytes[payload.upperBound - 1] & 15))
        guard first == 0 ? last == 0 : first <= last && last <= 63 && count == 1, after <= 13,
            before == 0 || before == after + 1
        else { return nil }
        return Scan(
            range: payload, components: scanned, codes: codes, band: first...last, missingBits: after,
            isRefinement: before > 0)
    }

    /// Returns the marker at an offset, which must exist.
    private static func marker(in bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt8? {
        guard let word = bytes.bigEndian16(at: offset), word > 0xFF00, word < 0xFFFF else { return nil }
        return UInt8(truncatingIfNeeded: word)
    }

    /// The end of a scan's data: a marker other than a restart's. In data, a zero follows each FF (section B.1.1.5).
    private static func endOfData(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var offset = start
        while let found = bytes.firstIndex(of: 0xFF, from: offset) {
            guard found + 1 < bytes.count else { break }
            let next = bytes[found + 1]
            if next != 0, !(0xD0...0xD7).contains(next) { return found }
            offset = found + 2
        }
        return bytes.count
    }
}
