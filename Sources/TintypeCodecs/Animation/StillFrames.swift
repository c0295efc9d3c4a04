#if HEIF
internal import TintypeImages

/// The single frame of an image that does not move, in a format whose images may.
final class StillFrames: FrameDecoder {
    let info: ImageInfo
    let outputSize: PixelSize
    private let decode: () throws(ImageError) -> Image
    private var isShown = false

    /// - Parameter decode: gives the image at the output size.
    init(info: ImageInfo, outputSize: PixelSize, decode: @escaping () throws(ImageError) -> Image) {
        self.info = info
        self.outputSize = outputSize
        self.decode = decode
    }

    func rewind() { isShown = false }

    func nextFrame() throws(ImageError) -> ImageFrame? {
        guard !isShown else { return nil }
        let frame = ImageFrame(pixels: try decode().pixels)
        isShown = true
        return frame
    }
}
#endif
