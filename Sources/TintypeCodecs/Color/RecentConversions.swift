internal import FoundationEssentials
internal import TintypeImages

/// The conversions that were used last, each of a profile for a kind of pixels.
///
/// Cameras and programs embed the same few profiles. To find out that one of them is sRGB takes as long as decoding 100,000 pixels, and
/// LittleCMS makes tables for others.
struct RecentConversions {
    static let shared = Lock(RecentConversions())

    private struct Entry {
        let profile: Data
        let source: ColorConversion.Source
        let format: PixelFormat
        /// `nil` if the pixels stay as they are.
        let conversion: ColorConversion?
    }

    /// The last one is the one that was used last.
    private var entries: [Entry] = []
    /// With the tables for inks of 16 bits, the largest, these take 15 MB.
    private static let mostEntries = 8
    /// In bytes: profiles of printers have half of it.
    private static let mostBytes = 1 << 20

    /// Returns the conversion for a profile; `nil` if the pixels stay as they are. See ``ColorConversion/init(profile:source:format:)``.
    static func conversion(
        of profile: Data, _ source: ColorConversion.Source, _ format: PixelFormat = .rgba8,
        in recent: Lock<RecentConversions> = shared
    ) -> ColorConversion? {
        guard profile.count <= mostBytes else {
            return ColorConversion(profile: profile, source: source, format: format)
        }
        if let entry = recent.withLock({ $0.use(profile, source, format) }) { return entry.conversion }
        // A copy: the profile may be a part of the file, which would stay in memory.
        let entry = Entry(
            profile: profile.withUnsafeBytes { Data($0) }, source: source, format: format,
            conversion: ColorConversion(profile: profile, source: source, format: format))
        recent.withLock { $0.add(entry) }
        return entry.conversion
    }

    private mutating func use(
        _ profile: Data, _ source: ColorConversion.Source, _ format: PixelFormat
    ) -> Entry? {
        let place = entries.firstIndex { $0.source == source && $0.format == format && $0.profile == profile }
        guard let place else { return nil }
        let entry = entries.remove(at: place)
        entries.append(entry)
        return entry
    }

    private mutating func add(_ entry: Entry) {
        // Another thread may have made it meanwhile.
        guard use(entry.profile, entry.source, entry.format) == nil else { return }
        if entries.count == Self.mostEntries { entries.removeFirst() }
        entries.append(entry)
    }
}
