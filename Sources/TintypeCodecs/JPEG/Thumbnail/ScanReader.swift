internal import TintypeImages

/// Decodes a scan in windows, so that the memory it takes doesn't grow with the picture, and stays in the caches of the processor.
///
/// Of a scan with restart markers, these are whole intervals. A scan without them is decoded in pieces, which end somewhere, up to a rest
/// that is decoded like an interval.
struct ScanReader: ~Copyable {
    private let restartInterval: Int
    private let blocks: Int
    private let context: ProcessingContext
    /// The streams of the window that was decoded last, which have its records.
    var window: ScanWindow
    /// The bytes of the window, without the zeros after FF.
    private var data: MutablePixelBuffer
    private(set) var records: MutablePixelBuffer

    /// The number of bytes in the window, and the largest.
    private var count = 0
    private let capacity: Int
    /// The next byte of the file.
    private var offset: Int
    /// The next bit of the window, which an MCU starts with.
    private var position = 0
    /// The ends of intervals in the window, in bytes. Without restart markers there is one.
    private var ends: [Int] = []
    /// True if the end of the scan is in the window.
    private var hasEnd = false
    /// The number of the next restart marker, from 0 to 7.
    private var restartNumber: UInt8 = 0
    /// The MCUs that are left.
    private var mcus: Int

    /// The most bytes of a window for each stream. More don't make it faster.
    private static let partBytes = 1 << 17
    /// The records of a stream that there is room for.
    private static let recordCount = 1 << 15

    /// - Parameter byteCount: the size of the file.
    init(
        _ frame: ThumbnailFrame, _ coding: ScanCoding, byteCount: Int, context: ProcessingContext
    ) throws(ImageError) {
        restartInterval = frame.restartInterval
        blocks = coding.blocks
        self.context = context
        window = ScanWindow(coding, records: Self.recordCount * coding.recordSize, context: context)
        offset = frame.scan
        mcus = frame.mcus.pixelCount
        // Where blocks take few bytes, the records of fewer have room.
        let part = Self.recordCount / 2 * max(1, byteCount - frame.scan) / (mcus * blocks)
        capacity = ScanWindow.mostLanes * min(Self.partBytes, max(5_000, part))
        let data = try Self.buffer(capacity + ScanBytes.padding, context.pool)
        let buffer = try Self.buffer(ScanWindow.mostLanes * Self.recordCount * coding.recordSize, context.pool)
        self.data = data
        self.records = buffer
    }

    private static func buffer(_ bytes: Int, _ pool: PixelBufferPool) throws(ImageError) -> MutablePixelBuffer {
        try MutablePixelBuffer(size: PixelSize(width: (bytes + 3) / 4, height: 1), cleared: false, pool: pool)
    }

    /// The blocks of memory that a reader takes at most.
    static func working(last: [Int]) -> [Int] {
        let recordBytes = recordCount * BlockFormat.recordSize(last: last)
        return [ScanWindow.mostLanes * partBytes + ScanBytes.padding, ScanWindow.mostLanes * recordBytes]
    }

    /// True if the whole scan has been decoded.
    var isAtEnd: Bool { mcus == 0 }

    /// Decodes the next window.
    mutating func next(_ file: Span<UInt8>) throws(NotForThumbnails) {
        if !hasEnd, ends.count < ScanWindow.mostLanes {
            moveRest()
            while !hasEnd, count < capacity { try fill(file) }
        }
        let rest = position..<max(position, 8 * count)
        if restartInterval > 0 || hasEnd && window.isShort(rest) && hasRoom(mcus) {
            try decodeIntervals()
        } else {
            try decode(piece: rest)
        }
        // After the last MCU nothing may come but the end.
        guard mcus > 0 || mcus == 0 && hasEnd && ends.isEmpty else { throw NotForThumbnails() }
    }

    /// True if a stream has room for the records of so many MCUs.
    private func hasRoom(_ mcus: Int) -> Bool { mcus * blocks < Self.recordCount - 64 }

    /// Decodes the next intervals, as many as there are streams.
    private mutating func decodeIntervals() throws(NotForThumbnails) {
        var intervals: [Range<Int>] = []
        var counts: [Int] = []
        var (begin, left) = (position, mcus)
        for end in ends.prefix(ScanWindow.mostLanes) {
            intervals.append(begin..<max(begin, 8 * end))
            counts.append(restartInterval > 0 ? min(left, restartInterval) : left)
            begin = 8 * end
            left -= counts.last ?? 0
        }
        // Intervals rarely end behind the window, or have more records than there is room for.
        guard !counts.isEmpty, counts.allSatisfy({ $0 > 0 && hasRoom($0) }) else { throw NotForThumbnails() }
        try Self.withBytes(data, &records) { (data, records) throws(NotForThumbnails) in
            try window.decode(intervals: intervals, mcus: counts, data, &records)
        }
        mcus = left
        position = begin
        ends.removeFirst(intervals.count)
    }

    private mutating func decode(piece: Range<Int>) throws(NotForThumbnails) {
        try Self.withBytes(data, &records) { (data, records) throws(NotForThumbnails) in
            try window.decode(piece: piece, data, &records)
        }
        mcus -= window.lanes.reduce(0) { $0 + $1.mcus }
        position = window.end
    }

    private static func withBytes(
        _ data: borrowing MutablePixelBuffer, _ records: inout MutablePixelBuffer,
        _ body: (RawSpan, inout MutableRawSpan) throws(NotForThumbnails) -> Void
    ) throws(NotForThumbnails) {
        try data.withBytes { (data) throws(NotForThumbnails) in
            try records.withMutableBytes { (records) throws(NotForThumbnails) in try body(data, &records) }
        }
    }

    // MARK: Bytes

    /// Moves the undecoded part to the front of the window.
    private mutating func moveRest() {
        let first = position >> 3
        guard first > 0 else { return }
        let rest = count - first
        data.withMutableBytes { bytes in
            for index in 0..<rest {
                let byte = bytes.unsafeLoad(fromByteOffset: first + index, as: UInt8.self)
                bytes.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
            }
        }
        count = rest
        position &= 7
        ends = ends.map { $0 - first }
    }

    /// Appends a piece of the file to the window, up to a marker at most.
    private mutating func fill(_ file: Span<UInt8>) throws(NotForThumbnails) {
        try NotForThumbnails.checkCancellation(context)
        let capacity = min(self.capacity, count + ScanBytes.piece)
        let marker = data.withMutableBytes { ScanBytes.append(file, &offset, to: &$0, &count, capacity: capacity) }
        guard let marker else {
            // The file ends, and the scan doesn't.
            guard count == capacity else { throw NotForThumbnails() }
            return
        }
        ends.append(count)
        offset += 2
        switch marker {
        case 0xD9: hasEnd = true
        case 0xD0 | restartNumber where restartInterval > 0: restartNumber = (restartNumber + 1) & 7
        // libjpeg decides the meaning of other markers.
        default: throw NotForThumbnails()
        }
    }
}
