extension EncodeOptions {
    /// A canonical spelling of the options that differ from the defaults; empty if none does.
    package var cacheKey: String {
        let defaults = EncodeOptions()
        var parts: [String] = []
        if quality != defaults.quality { parts.append("quality=\(quality)") }
        if lossless { parts.append("lossless") }
        if progressive { parts.append("progressive") }
        if let maximumBytes { parts.append("maximumBytes=\(maximumBytes.bytes)") }
        if let maximumSize { parts.append("maximumSize=\(maximumSize)") }
        if firstFrameOnly { parts.append("firstFrame") }
        if background != defaults.background { parts.append("background=\(background.hex)") }
        if keepsMetadata { parts.append("metadata") }
        if embedsThumbnail { parts.append("thumbnail") }
        if encodeToHDR != defaults.encodeToHDR { parts.append("hdr=\(encodeToHDR.rawValue)") }
        parts += formatSettings.cacheKeys
        return parts.map(VariantText.escaped).joined(separator: ";")
    }
}
