#if AVIF
internal import TintypeImages

/// The pictures of a file: items, or samples of tracks.
///
/// libavif decodes a picture in a single call, which can't be canceled, and goes on through its frames until one is shown that the file
/// asks for. A frame takes 3 bytes or more: with film grain, 35 KB took 460 seconds.
struct AVIFSamples {
    private let file: UnsafeRawBufferPointer
    private var items: [[UnsafeRawBufferPointer]]
    /// The places of the samples of each track.
    private let tracks: [[Range<Int>]]

    /// - Throws: ``ImageError/Code/corruptImage`` if the samples of a track can't be told.
    init(
        _ file: UnsafeRawBufferPointer, _ description: AVIFDescription, limits: DecodeLimits
    ) throws(ImageError) {
        self.file = file
        items = description.items
        var tracks: [[Range<Int>]] = []
        for table in description.sampleTables {
            let boxes = try table.boxes()
            // libavif would read them all.
            for types in [["stsz", "stz2"], ["stco", "co64"], ["stsc"]]
            where boxes.count(where: { types.contains($0.type) }) > 1 {
                throw .corrupt("a track of the AVIF file has more than one '\(types[0])' box")
            }
            tracks.append(try SampleTable.places(table, maximumCount: limits.mostFrames, isExact: true))
        }
        self.tracks = tracks
    }

    /// Checks the frames of all items, and of a sample of each track, before they are decoded.
    /// - Throws: ``ImageError/Code/limitExceeded`` if one has more AV1 frames than any picture needs.
    mutating func checkFrames(of index: Int) throws(ImageError) {
        var frames = 0
        for item in items { frames += try Self.countFrames(item) }
        // The tiles of a grid are decoded in one call.
        guard frames <= Self.maximumFrames + 4 * items.count else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the \(items.count) images of the AVIF file have \(frames) AV1 frames, over the limit of "
                    + "\(Self.maximumFrames + 4 * items.count)")
        }
        items = []
        for track in tracks where index < track.count {
            let sample = UnsafeRawBufferPointer(rebasing: file[track[index].clamped(to: 0..<file.count)])
            _ = try Self.countFrames([sample])
        }
    }

    /// A picture has up to four layers, each with a few frames that aren't shown.
    private static let maximumFrames = 16
    /// Including those that are no frames: metadata, and groups of tiles.
    private static let maximumUnits = 10_000

    /// Goes through the units of a picture (AV1, section 5.3).
    /// - Parameter parts: The bytes of the picture.
    static func countFrames(_ parts: [UnsafeRawBufferPointer]) throws(ImageError) -> Int {
        var bytes = Parts(parts: parts[...])
        var (frames, units) = (0, 0)
        while let header = bytes.next() {
            units += 1
            // A frame, or a header of one, which may show an earlier frame again. dav1d takes a repeated header for one, too.
            if [3, 6, 7].contains(header >> 3 & 15) { frames += 1 }
            guard frames <= maximumFrames, units <= maximumUnits else {
                throw ImageError(
                    .limitExceeded, stage: .decode,
                    reason: "an image of the AVIF file has more than \(maximumFrames) AV1 frames, or more than "
                        + "\(maximumUnits) AV1 units (OBUs)")
            }
            if header & 4 != 0 { _ = bytes.next() }
            // Without a size, a unit lasts to the end.
            guard header & 2 != 0, let size = bytes.nextSize() else { break }
            bytes.skip(size)
        }
        return frames
    }

    /// Bytes in several places.
    private struct Parts {
        var parts: ArraySlice<UnsafeRawBufferPointer>
        private var offset = 0

        init(parts: ArraySlice<UnsafeRawBufferPointer>) { self.parts = parts }

        mutating func next() -> UInt8? {
            skip(0)
            guard let part = parts.first else { return nil }
            defer { offset += 1 }
            return part[offset]
        }

        /// Seven bits in each byte, from the lowest (AV1, section 4.10.5).
        mutating func nextSize() -> Int? {
            var size = 0
            for shift in stride(from: 0, to: 56, by: 7) {
                guard let byte = next() else { return nil }
                size |= Int(byte & 0x7F) << shift
                if byte < 0x80 { return size }
            }
            return nil
        }

        /// Also moves to the next part that has bytes left.
        mutating func skip(_ count: Int) {
            var count = count
            while let part = parts.first, count >= part.count - offset {
                count -= part.count - offset
                parts.removeFirst()
                offset = 0
            }
            offset += parts.isEmpty ? 0 : count
        }
    }
}
#endif
