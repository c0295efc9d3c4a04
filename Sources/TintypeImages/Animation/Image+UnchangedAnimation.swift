package import FoundationEssentials

extension Image {
    /// The bytes that an animation was decoded from, which have all of its colors; `nil` unless decoding them again gives the same image.
    package func bytesOfUnchangedAnimation(among coders: ImageCoders) -> Data? {
        guard let animation, !animation.data.isEmpty, !isPartial, !isTransformed,
            coders.decodableFormats.contains(animation.info.format)
        else { return nil }
        let info = animation.info
        let isUnchanged =
            size == info.displaySize && loopCount == info.loopCount ?? 0 && format == info.format
            && metadata == info.metadata
        return isUnchanged ? animation.data : nil
    }
}
