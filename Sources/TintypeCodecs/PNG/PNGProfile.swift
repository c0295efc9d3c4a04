internal import FoundationEssentials
internal import TintypeImages

/// The embedded ICC profile of a PNG file (chunk `iCCP`; PNG, third edition, section 11.3.2.3).
///
/// libpng is not asked for it: it refuses profiles in common use as "known incorrect", and ignores every profile that stands
/// behind a chunk `sRGB`, although the profile has precedence (section 4.3).
enum PNGProfile {
    /// A profile that becomes larger is not read.
    private static let maximumBytes = 16 << 20

    /// Returns the profile in the contents of a chunk.
    /// - Parameters:
    ///   - contents: a name, a zero, the method of compression, and a zlib stream.
    ///   - isGray: true if the file is gray. The profile must be for pixels of the same kind.
    /// - Returns: `nil` for a profile that is damaged or describes pixels of another kind.
    static func read(_ contents: Slice<UnsafeRawBufferPointer>, isGray: Bool) -> Data? {
        guard let end = contents.prefix(80).firstIndex(of: 0), end + 1 < contents.endIndex, contents[end + 1] == 0,
            let profile = ZlibStream.unpack(contents[(end + 2)...], maximumBytes: maximumBytes), profile.count >= 128
        else { return nil }
        // The signature of the color space is at byte 16 (ICC.1, section 7.2).
        let signature = profile.dropFirst(16).prefix(4)
        return signature.elementsEqual((isGray ? "GRAY" : "RGB ").utf8) ? profile : nil
    }

    /// Appends a chunk with a profile to a file.
    /// - Returns: `false` if zlib has no memory.
    static func append(_ profile: Data, to file: inout Data) -> Bool {
        guard let stream = ZlibStream.pack(profile) else { return false }
        PNGChunk.append(.iccp, Data("ICC profile\0\0".utf8) + stream, to: &file)
        return true
    }
}
