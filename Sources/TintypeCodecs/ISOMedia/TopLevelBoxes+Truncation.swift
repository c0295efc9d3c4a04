#if AVIF || HEIF
internal import TintypeImages

extension TopLevelBoxes {
    /// Returns true if bytes of a HEIF or AVIF file are missing that its images need.
    ///
    /// The contents decide: some servers and programs append a line, zeros, or another file, which nothing in a whole file refers to. A
    /// description that can't be read tells nothing, and the file counts as truncated.
    /// - Parameter file: all that is there of the file.
    func isTruncated(_ file: UnsafeRawBufferPointer) -> Bool {
        guard endsEarly else { return false }
        // Of each, the first is read.
        let descriptions = [first("meta"), first("moov")].compactMap(\.self)
        guard !descriptions.isEmpty, descriptions.allSatisfy(\.isComplete) else { return true }
        // The description of a sequence may follow its frames.
        guard first("moov") != nil || !statesSequence(file) else { return true }
        return descriptions.contains { box in
            let contents = MediaBox(type: box.type, contents: UnsafeRawBufferPointer(rebasing: file[box.payload]))
            let end = try? box.type == "meta" ? Self.itemsEnd(contents, file) : Self.samplesEnd(contents)
            return end.map { $0 > file.count } ?? true
        }
    }

    /// The brands of image sequences, which a box `moov` describes (ISO/IEC 23008-12, section 10.3, and the AV1 Image File Format).
    private static let sequenceBrands: Set<String> = ["msf1", "avis"]

    private func statesSequence(_ file: UnsafeRawBufferPointer) -> Bool {
        guard let brands = first("ftyp")?.payload else { return false }
        return stride(from: brands.lowerBound, to: brands.upperBound - 3, by: 4).contains { place in
            Self.sequenceBrands.contains(String(decoding: file[place..<place + 4], as: UTF8.self))
        }
    }

    /// The offset of the first byte behind all items.
    private static func itemsEnd(_ meta: MediaBox, _ file: UnsafeRawBufferPointer) throws(ImageError) -> Int {
        guard let places = try meta.first("iloc", from: 4) else { return 0 }
        return try ItemPlaces(places, file: file, inner: nil, references: { _ in [] }).end
    }

    /// The offset of the first byte behind the samples of all tracks.
    private static func samplesEnd(_ moov: MediaBox) throws(ImageError) -> Int {
        var end = 0
        for track in try moov.boxes().filter({ $0.type == "trak" }).prefix(maximumTracks) {
            let table = try track.box("mdia", "minf", "stbl")
            end = max(end, try SampleTable.end(of: table, maximumCount: maximumSamples))
        }
        return end
    }

    /// A sequence has pictures and their transparency, and perhaps thumbnails.
    private static let maximumTracks = 8

    /// More samples than a track of 24 hours with 3 frames a second has. A small box can state more.
    private static let maximumSamples = 1 << 18
}
#endif
