#if RAW
internal import CLibRaw
internal import FoundationEssentials
internal import TintypeImages

/// A camera file that libraw has opened. The bytes must outlive it.
final class RAWFile {
    let handle: UnsafeMutablePointer<libraw_data_t>
    let callbacks: RAWCallbacks
    /// True if the bytes end before the picture of the sensor starts. libraw reads zeros there, and doesn't tell.
    let missesPicture: Bool
    /// True if the bytes end before a directory, whose picture libraw then doesn't know of.
    private let missesDirectory: Bool
    /// True if nothing but the format that was expected says that the file is a camera's.
    private let isPlainTIFF: Bool
    /// True if the file states an orientation that doesn't exist. libraw turns such a picture.
    private let hasSenselessOrientation: Bool
    private let byteCount: Int
    private let metadata: ImageMetadata

    /// The most pixels of an image to a byte of its file: a black frame compresses well, but not without end.
    private static let maximumPixelsPerByte = 256

    init(_ bytes: UnsafeRawBufferPointer, context: ProcessingContext) throws(ImageError) {
        // The callbacks receive errors; libraw would print them.
        let silent = LIBRAW_OPIONS_NO_MEMERR_CALLBACK.rawValue | LIBRAW_OPIONS_NO_DATAERR_CALLBACK.rawValue
        guard let handle = libraw_init(silent) else {
            throw ImageError(.outOfMemory, stage: .decode, reason: "libraw couldn't allocate memory")
        }
        self.handle = handle
        callbacks = RAWCallbacks(context)
        byteCount = bytes.count
        metadata = ExifReader(bytes).map { ImageMetadata(tiff: $0, keepsMakerNotes: false) } ?? ImageMetadata()
        missesPicture = TIFFDirectory.missesLargestPicture(bytes)
        missesDirectory = TIFFDirectory.missesDirectory(bytes)
        isPlainTIFF = ImageFormat(sniffing: Data(bytes.prefix(64))) == .tiff
        hasSenselessOrientation =
            ExifReader(bytes).map { !$0.orientationEntries.isEmpty && Orientation(exif: bytes) == nil } ?? false
        callbacks.attach(to: handle)
        handle.pointee.params.max_raw_memory_mb = UInt32(clamping: max(1, context.limits.maximumBytes.bytes >> 20))
        // libraw only reads the bytes.
        try check(libraw_open_buffer(handle, UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count))
    }

    deinit { libraw_close(handle) }

    /// The description of the image. libraw can only be closed afterwards.
    var info: ImageInfo {
        get throws(ImageError) {
            let orientation = hasSenselessOrientation ? .up : Self.orientation(flip: handle.pointee.sizes.flip)
            // As stored: the rows are turned later.
            handle.pointee.params.user_flip = 0
            try check(libraw_adjust_sizes_info_only(handle))
            let sizes = handle.pointee.sizes
            let size = PixelSize(width: Int(sizes.iwidth), height: Int(sizes.iheight))
            let bits = Int(handle.pointee.color.raw_bps)
            guard !size.isEmpty else { throw .corrupt("the camera file has the invalid size \(size)") }
            guard size.pixelCount / Self.maximumPixelsPerByte <= byteCount else {
                throw .corrupt("the camera file is only \(ByteCount(byteCount)), too little for \(size) pixels")
            }
            var info = ImageInfo(
                format: .raw, size: size, orientation: orientation, hasAlpha: false,
                bitsPerComponent: (1...16).contains(bits) ? bits : 16)
            info.metadata = metadata
            return info
        }
    }

    /// - Throws: The error that a result of libraw's stands for.
    func check(_ result: Int32) throws(ImageError) {
        guard result != LIBRAW_SUCCESS.rawValue else { return }
        let message = String(cString: libraw_strerror(result))
        switch result {
        case LIBRAW_CANCELLED_BY_CALLBACK.rawValue:
            throw ImageError(.cancelled, stage: .decode, reason: "canceled while the camera file was decoded")
        case LIBRAW_TOO_BIG.rawValue:
            throw ImageError(
                .limitExceeded, stage: .decode, reason: "the camera file takes more memory than the limits allow")
        case LIBRAW_FILE_UNSUPPORTED.rawValue where isPlainTIFF && !missesDirectory:
            throw ImageError(
                .unknownFormat, stage: .decode, reason: "the file isn't a camera file that libraw supports")
        case LIBRAW_UNSUFFICIENT_MEMORY.rawValue:
            throw ImageError(.outOfMemory, stage: .decode, reason: "libraw couldn't allocate memory for the image")
        default:
            throw callbacks.missesBytes || missesDirectory || result == LIBRAW_IO_ERROR.rawValue
                ? .truncated("the camera file ends too early (libraw: \(message))")
                : .corrupt("the camera file can't be read (libraw: \(message))")
        }
    }

    /// dcraw's bits for exchanging the sides, mirroring top to bottom and left to right; or degrees clockwise.
    private static func orientation(flip: Int32) -> Orientation {
        switch flip {
        case 1: .upMirrored
        case 2: .downMirrored
        case 3, 180: .down
        case 4: .leftMirrored
        case 5, 270: .left
        case 6, 90: .right
        case 7: .rightMirrored
        default: .up
        }
    }
}
#endif
