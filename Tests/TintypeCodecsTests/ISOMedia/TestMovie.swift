#if HEIF
import Foundation

/// Writes the boxes of a movie of images, for tests.
struct TestMovie {
    struct Track {
        var id = 1
        var handler = "pict"
        var isEnabled = true
        var matrix: [Int] = [1, 0, 0, 1]
        var timescale = 1_000
        /// In the units of the movie; `nil` for ever.
        var duration: Int? = 0
        /// The flags and the durations of an edit list.
        var edits: (flags: Int, durations: [Int])?
        var references: [String: [Int]] = [:]
        var coding = "hvc1"
        /// Boxes in the entry that says how samples are coded.
        var codingBoxes = Data()
        var samples: [Data] = []
        /// Of each sample.
        var delays: [Int] = []
        /// How much later than decoded each sample is shown.
        var offsets: [Int] = []
        /// Counted from 1; `nil` if all are.
        var syncSamples: [Int]?
        var samplesPerChunk = 2
        var has64BitOffsets = false
    }

    var brands = ["msf1", "hevc", "iso8"]
    /// A file that the movie is put behind, instead of a beginning of its own.
    var beginning: Data?
    var tracks: [Track]
    /// Further boxes within `moov`.
    var movieBoxes = Data()
    var movieIsLast = false

    var data: Data {
        let beginning = beginning ?? Self.box("ftyp", Data((brands[0] + "\0\0\0\0" + brands.joined()).utf8))
        let media = Self.box("mdat", tracks.flatMap(\.samples).reduce(Data(), +))
        let length = movie(offset: 0).count
        let offset = beginning.count + (movieIsLast ? 0 : length) + 8
        let movie = movie(offset: offset)
        return beginning + (movieIsLast ? media + movie : movie + media)
    }

    private func movie(offset: Int) -> Data {
        var contents = Self.box("mvhd", Data(count: 100))
        var offset = offset
        for track in tracks {
            contents += Self.track(track, offset: offset)
            offset += track.samples.reduce(0) { $0 + $1.count }
        }
        return Self.box("moov", contents + movieBoxes)
    }

    private static func track(_ track: Track, offset: Int) -> Data {
        let duration = number(track.duration ?? 0xFFFF_FFFF)
        let matrix = [track.matrix[0], track.matrix[1], 0, track.matrix[2], track.matrix[3], 0, 0, 0].map {
            number($0 << 16)
        }
        var header = number(track.isEnabled ? 1 : 0) + Data(count: 8) + number(track.id) + Data(count: 4) + duration
        header += Data(count: 16) + matrix.reduce(Data(), +) + number(1 << 30) + Data(count: 8)
        var contents = box("tkhd", header)
        if let edits = track.edits {
            let entries = edits.durations.reduce(into: Data()) { $0 += number($1) + number(0) + number(1 << 16) }
            contents += box("edts", box("elst", number(edits.flags) + number(edits.durations.count) + entries))
        }
        if !track.references.isEmpty {
            let boxes = track.references.reduce(into: Data()) { boxes, reference in
                boxes += box(reference.key, reference.value.reduce(into: Data()) { $0 += number($1) })
            }
            contents += box("tref", boxes)
        }
        var media = box("mdhd", Data(count: 12) + number(track.timescale) + Data(count: 8))
        media += box("hdlr", Data(count: 8) + Data(track.handler.utf8) + Data(count: 13))
        media += box("minf", box("stbl", sampleTable(track, offset: offset)))
        return box("trak", contents + box("mdia", media))
    }

    static func sampleTable(_ track: Track, offset: Int) -> Data {
        let entry = box(track.coding, Data(count: 78) + track.codingBoxes)
        var table = box("stsd", number(0) + number(1) + entry)
        table += list("stts", track.delays.flatMap { [1, $0] }, fieldsPerEntry: 2)
        if !track.offsets.isEmpty {
            table += list("ctts", track.offsets.flatMap { [1, $0] }, fieldsPerEntry: 2, version: 1)
        }
        if let sync = track.syncSamples { table += list("stss", sync, fieldsPerEntry: 1) }
        table += box("stsz", number(0) + number(0) + number(track.samples.count) + numbers(track.samples.map(\.count)))
        // The last chunk holds what is left over, which is said only where it is another number.
        let full = track.samples.count / track.samplesPerChunk
        let rest = track.samples.count % track.samplesPerChunk
        var runs: [Int] = full > 0 ? [1, track.samplesPerChunk, 1] : []
        if rest > 0 { runs += [full + 1, rest, 1] }
        table += list("stsc", runs, fieldsPerEntry: 3)
        var offsets: [Int] = []
        var next = offset
        for (index, sample) in track.samples.enumerated() {
            if index % track.samplesPerChunk == 0 { offsets.append(next) }
            next += sample.count
        }
        if track.has64BitOffsets {
            table += box("co64", number(0) + number(offsets.count) + numbers(offsets.flatMap { [0, $0] }))
        } else {
            table += list("stco", offsets, fieldsPerEntry: 1)
        }
        return table
    }

    // MARK: Boxes

    static func box(_ type: String, _ contents: Data) -> Data {
        number(8 + contents.count) + Data(type.utf8) + contents
    }

    static func list(_ type: String, _ values: [Int], fieldsPerEntry: Int, version: Int = 0) -> Data {
        box(type, number(version << 24) + number(values.count / fieldsPerEntry) + numbers(values))
    }

    static func numbers(_ values: [Int]) -> Data { values.reduce(into: Data()) { $0 += number($1) } }

    static func number(_ value: Int, bytes: Int = 4) -> Data {
        Data((0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
    }
}
#endif
