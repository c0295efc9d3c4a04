package import TintypeImages

extension PixelBuffer {
    /// The pixels as straight RGBA with 8 bits a component, in rows without gaps: colors aren't multiplied by alpha, as most other
    /// libraries expect them.
    ///
    /// Transparent pixels are transparent black. Colors of nearly transparent pixels are only as exact as their premultiplied
    /// numbers.
    /// - Throws: ``ImageError/Code/outOfMemory`` if pixels of another format can't be converted.
    package func straightRGBA() throws(ImageError) -> [UInt8] { try converted(to: .rgba8).straightPixels }
}
