#if AVIF
internal import FoundationEssentials

/// Adds to an image sequence the number of times that it is played, which the installed libavif can't write: an edit list with the
/// flag `RepeatEdits` in each track, whose duration covers all repetitions (ISO/IEC 14496-12, section 8.6.6).
struct AVIFEditList {
    private struct Box {
        var type: String
        /// The place of the header.
        var start: Int
        var contents: Range<Int>
    }

    /// An `edts` box with a single entry of 64 bits.
    private static let size = 44

    private var bytes: [UInt8]

    /// Returns the file with its number of repetitions.
    /// - Parameters:
    ///   - file: a sequence as libavif writes it: all offsets are absolute and of 32 bits.
    ///   - loopCount: the number of times that it is played, at least 1.
    /// - Returns: `nil` if the file is laid out in another way, or if a duration is too long.
    static func adding(loopCount: Int, to file: Data) -> Data? {
        var list = AVIFEditList(bytes: [UInt8](file))
        return list.add(loopCount) ? Data(list.bytes) : nil
    }

    private mutating func add(_ loopCount: Int) -> Bool {
        let file = boxes(in: 0..<bytes.count)
        guard let moov = file.first(where: { $0.type == "moov" }),
            let header = boxes(in: moov.contents).first(where: { $0.type == "mvhd" })
        else { return false }
        let tracks = boxes(in: moov.contents).filter { $0.type == "trak" }
        let added = tracks.count * Self.size
        if let meta = file.first(where: { $0.type == "meta" }) {
            // `meta` has a version and flags before its boxes.
            let items = boxes(in: meta.contents.dropFirst(4)).first { $0.type == "iloc" }
            guard items.map({ moveItems($0, behind: moov.contents.upperBound, by: added) }) ?? true else {
                return false
            }
        }
        // The creation and the modification time and the timescale come before the duration of the movie.
        guard multiply(durationOf: header, after: 20, by: loopCount) != nil else { return false }
        // From the last track on, because places behind an insertion move.
        for track in tracks.reversed() {
            guard moveChunks(track, behind: moov.contents.upperBound, by: added),
                let trackHeader = boxes(in: track.contents).first(where: { $0.type == "tkhd" }),
                let duration = multiply(durationOf: trackHeader, after: 24, by: loopCount)
            else { return false }
            add(Self.size, toSizeAt: track.start)
            bytes.insert(
                contentsOf: Self.box(duration: duration, repeats: loopCount > 1),
                at: trackHeader.contents.upperBound)
        }
        add(added, toSizeAt: moov.start)
        return true
    }

    private static func box(duration: Int, repeats: Bool) -> [UInt8] {
        let entry = BigEndian.bytes(duration, 8) + BigEndian.bytes(0, 8) + BigEndian.bytes(1 << 16, 4)
        let list =
            BigEndian.bytes(36, 4) + Array("elst".utf8) + [1, 0, 0, repeats ? 1 : 0] + BigEndian.bytes(1, 4) + entry
        return BigEndian.bytes(size, 4) + Array("edts".utf8) + list
    }

    // MARK: Boxes

    /// The boxes in a part of the file, as far as they make sense.
    private func boxes(in part: Range<Int>) -> [Box] {
        var boxes: [Box] = []
        var start = part.lowerBound
        while start + 8 <= part.upperBound {
            let size = number(at: start, 4)
            guard size >= 8, size <= part.upperBound - start else { break }
            let type = String(decoding: bytes[start + 4..<start + 8], as: UTF8.self)
            boxes.append(Box(type: type, start: start, contents: start + 8..<start + size))
            start += size
        }
        return boxes
    }

    /// Multiplies the duration in a header of version 1.
    /// - Parameter fields: the bytes between the version and flags, and the duration, with times of 64 bits.
    /// - Returns: the duration before.
    private mutating func multiply(durationOf header: Box, after fields: Int, by factor: Int) -> Int? {
        let place = header.contents.lowerBound + 4 + fields
        guard place + 8 <= header.contents.upperBound, bytes[header.contents.lowerBound] == 1 else { return nil }
        let duration = number(at: place, 8)
        let (product, overflow) = duration.multipliedReportingOverflow(by: factor)
        guard duration > 0, !overflow else { return nil }
        set(product, at: place, 8)
        return duration
    }

    /// Moves the chunks of a track that lie behind a place.
    private mutating func moveChunks(_ track: Box, behind end: Int, by distance: Int) -> Bool {
        var part = track.contents
        for type in ["mdia", "minf", "stbl", "stco"] {
            guard let box = boxes(in: part).first(where: { $0.type == type }) else { return false }
            part = box.contents
        }
        guard part.count >= 8, number(at: part.lowerBound + 4, 4) <= (part.count - 8) / 4 else { return false }
        for index in 0..<number(at: part.lowerBound + 4, 4) {
            move(at: part.lowerBound + 8 + 4 * index, behind: end, by: distance)
        }
        return true
    }

    /// Moves the extents of items that lie behind a place (section 8.11.3), in a box of version 0 without base offsets.
    private mutating func moveItems(_ box: Box, behind end: Int, by distance: Int) -> Bool {
        var place = box.contents.lowerBound
        guard box.contents.count >= 8, bytes[place] == 0, bytes[place + 4] == 0x44, bytes[place + 5] & 0xF0 == 0 else {
            return false
        }
        let items = number(at: place + 6, 2)
        place += 8
        for _ in 0..<items {
            guard place + 6 <= box.contents.upperBound else { return false }
            let extents = number(at: place + 4, 2)
            place += 6
            guard extents <= (box.contents.upperBound - place) / 8 else { return false }
            for _ in 0..<extents {
                move(at: place, behind: end, by: distance)
                place += 8
            }
        }
        return true
    }

    // MARK: Numbers

    private mutating func move(at place: Int, behind end: Int, by distance: Int) {
        let offset = number(at: place, 4)
        if offset >= end { set(offset + distance, at: place, 4) }
    }

    private mutating func add(_ count: Int, toSizeAt place: Int) { set(number(at: place, 4) + count, at: place, 4) }

    /// A number that lies within the bytes; the largest number where it has more than 63 bits.
    private func number(at place: Int, _ count: Int) -> Int {
        let value = bytes[place..<place + count].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        return Int(clamping: value)
    }

    private mutating func set(_ value: Int, at place: Int, _ count: Int) {
        bytes.replaceSubrange(place..<place + count, with: BigEndian.bytes(value, count))
    }
}
#endif
