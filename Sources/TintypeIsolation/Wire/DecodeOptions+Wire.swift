package import TintypeImages

extension DecodeOptions: WireRecord {
    package static var blank: DecodeOptions { DecodeOptions() }

    /// Passes all options but the settings of single formats.
    package mutating func pass(_ parts: inout some WireParts) throws(WireSocket.Failure) {
        try parts.pass(&thumbnailSize)
        try parts.pass(&preservesAspectRatio)
        try parts.pass(&coversThumbnailSize)
        try parts.pass(&allowsUpscaling)
        try parts.pass(&prefersFastThumbnail)
        try parts.pass(&maximumBytes)
        try parts.pass(&page)
        try parts.pass(&firstFrameOnly)
        try parts.pass(&scale)
        try parts.pass(&allowsPartialImage)
        try parts.pass(&keepsColorSpace)
        try parts.pass(&decodeToHDR)
        try parts.pass(&formatHint)
    }
}

extension DecodeLimits: WireRecord {
    package static var blank: DecodeLimits { DecodeLimits() }

    package mutating func pass(_ parts: inout some WireParts) throws(WireSocket.Failure) {
        try parts.pass(&maximumPixels)
        try parts.pass(&maximumBytes)
        try parts.pass(&maximumFrames)
        try parts.pass(&maximumSide)
        try parts.pass(&maximumAnimationPixels)
    }
}

extension PixelSize: WireRecord {
    package static var blank: PixelSize { .zero }

    package mutating func pass(_ parts: inout some WireParts) throws(WireSocket.Failure) {
        try parts.pass(&width)
        try parts.pass(&height)
    }
}

extension ByteCount: WireRecord {
    package static var blank: ByteCount { 0 }

    package mutating func pass(_ parts: inout some WireParts) throws(WireSocket.Failure) { try parts.pass(&bytes) }
}
