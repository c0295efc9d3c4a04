#if AVIF || HEIF
internal import TintypeImages

/// The description of a track in its `trak` box, without the samples (ISO/IEC 14496-12, section 8.3). Valid as long as the bytes of the
/// file.
struct MediaTrack {
    let id: Int
    let isEnabled: Bool
    let orientation: Orientation
    /// The kind of the track, in four letters: `pict` for images, `auxv` for auxiliary pictures.
    let handler: String
    /// Units of time in a second.
    let timescale: Int
    /// The number of times that the track is played, 0 to repeat it forever.
    let loopCount: Int
    /// The ids of other tracks by the kind of reference: `auxl` to the track that this track belongs to, `prem` to the alpha that colors
    /// are multiplied by, `thmb` to the track that this track is a thumbnail of.
    let references: [String: [Int]]
    /// The box `stbl`.
    let sampleTable: MediaBox
    /// The coding of the samples: the only entry of `stsd`; `nil` if there are none or several.
    let sampleEntry: MediaBox?

    init(_ box: MediaBox) throws(ImageError) {
        let header = try Header(try box.box("tkhd"))
        id = header.id
        isEnabled = header.isEnabled
        orientation = header.orientation
        loopCount = try Self.loopCount(box, duration: header.duration)
        references = try Self.references(box)
        let media = try box.box("mdia")
        var reader = try media.box("hdlr").reader
        try reader.skip(8)
        handler = try reader.letters()
        reader = try media.box("mdhd").reader
        try reader.skip(try reader.fullBox().version == 1 ? 16 : 8)
        timescale = try reader.uint32()
        sampleTable = try media.box("minf", "stbl")
        let entries = try sampleTable.box("stsd").boxes(from: 8)
        sampleEntry = entries.count == 1 ? entries[0] : nil
    }

    /// The kind of pictures that an auxiliary track states, in the form of a URN.
    var auxiliaryType: String? {
        sampleEntry.flatMap { try? VisualSampleEntry($0) }?.auxiliaryType
    }

    /// The names of auxiliary tracks and images of transparency (ISO/IEC 23008-12, section 6.6.2.1.1 and annex B).
    static let alphaTypes: Set<String> = [
        "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1",
    ]

    /// The box `tkhd`.
    private struct Header {
        let isEnabled: Bool
        let id: Int
        /// The duration in units of the file; `nil` for an infinite number.
        let duration: Int?
        let orientation: Orientation

        init(_ box: MediaBox) throws(ImageError) {
            var reader = box.reader
            let (version, flags) = try reader.fullBox()
            isEnabled = flags & 1 != 0
            try reader.skip(version == 1 ? 16 : 8)
            id = try reader.uint32()
            try reader.skip(4)
            let stated = version == 1 ? try reader.uint64() : try reader.uint32()
            duration = stated == (version == 1 ? .max : 0xFFFF_FFFF) ? nil : stated
            // Two reserved words, the layer, the group, the volume.
            try reader.skip(16)
            let (a, b) = (try reader.int32(), try reader.int32())
            try reader.skip(4)
            orientation = Orientation(matrix: a, b, try reader.int32(), try reader.int32())
        }
    }

    /// Returns the number of times that a track is played. An edit list with the flag `RepeatEdits` is played until the track's
    /// duration is over, and a list without the flag is played once (section 8.6.6). A track without a list repeats forever, as in
    /// browsers and viewers.
    private static func loopCount(_ box: MediaBox, duration: Int?) throws(ImageError) -> Int {
        guard let list = try box.first("edts")?.first("elst") else { return 0 }
        var reader = list.reader
        let (version, flags) = try reader.fullBox()
        guard flags & 1 != 0 else { return 1 }
        var edited = 0
        for _ in 0..<(try reader.uint32()) {
            edited =
                edited.addingReportingOverflow(version == 1 ? try reader.uint64() : try reader.uint32()).partialValue
            try reader.skip(version == 1 ? 12 : 8)
        }
        guard let duration, edited > 0 else { return 0 }
        return max(1, duration / edited + (duration % edited == 0 ? 0 : 1))
    }

    private static func references(_ box: MediaBox) throws(ImageError) -> [String: [Int]] {
        guard let list = try box.first("tref") else { return [:] }
        var references: [String: [Int]] = [:]
        for box in try list.boxes() {
            var reader = box.reader
            while reader.remaining >= 4 { references[box.type, default: []].append(try reader.uint32()) }
        }
        return references
    }
}

extension Orientation {
    /// The orientation of a track's matrix, whose `a` and `b` say where x leads, `c` and `d` where y does; scaling and angles
    /// other than multiples of a right angle are left out.
    fileprivate init(matrix a: Int, _ b: Int, _ c: Int, _ d: Int) {
        self =
            switch (a.signum(), b.signum(), c.signum(), d.signum()) {
            case (-1, 0, 0, 1): .upMirrored
            case (-1, 0, 0, -1): .down
            case (1, 0, 0, -1): .downMirrored
            case (0, 1, 1, 0): .leftMirrored
            case (0, 1, -1, 0): .right
            case (0, -1, -1, 0): .rightMirrored
            case (0, -1, 1, 0): .left
            default: .up
            }
    }
}
#endif
