#if RAW
internal import CLibRaw
internal import FoundationEssentials
internal import TintypeImages

/// Makes a thumbnail of the preview that a camera has put into its file.
struct RAWPreview {
    /// A file with only its header read. libraw can't develop it afterwards.
    let file: RAWFile
    let info: ImageInfo
    /// The requested size, upright.
    let output: PixelSize
    let options: DecodeOptions
    let context: ProcessingContext

    /// Returns the thumbnail, or `nil` without an intact JPEG of the image's shape that is large enough.
    ///
    /// - Throws: ``ImageError/Code/cancelled``
    func pixels() throws(ImageError) -> PixelBuffer? {
        guard libraw_unpack_thumb(file.handle) == LIBRAW_SUCCESS.rawValue else { return nil }
        let preview = file.handle.pointee.thumbnail
        guard preview.tformat == LIBRAW_THUMBNAIL_JPEG, let start = preview.thumb, preview.tlength > 0 else {
            return nil
        }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(preview.tlength))
        var segments = JPEGSegments(bytes)
        guard let size = segments.size, isEnough(size) else { return nil }
        // Previews lie as the sensor does; their own orientation can't be relied on.
        segments.orientation = info.orientation
        var fitted = options
        fitted.thumbnailSize = output
        fitted.preservesAspectRatio = false
        fitted.maximumBytes = nil
        fitted.keepsColorSpace = false
        fitted.allowsPartialImage = false
        do throws(ImageError) {
            return try JPEGDecoder(segments: segments, options: fitted, context: context).run(bytes).pixels
        } catch {
            if error.isCancellation { throw error }
            return nil
        }
    }

    /// True if a preview of a size has about the shape of the image, and is as large as the thumbnail.
    private func isEnough(_ size: PixelSize) -> Bool {
        let target = info.orientation.stored(output)
        guard size.width >= target.width, size.height >= target.height else { return false }
        let shape = Double(size.width) * Double(info.size.height) / (Double(size.height) * Double(info.size.width))
        return abs(shape - 1) < 0.02
    }
}
#endif
