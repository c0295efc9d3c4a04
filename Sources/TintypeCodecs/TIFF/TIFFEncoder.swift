#if TIFF
internal import CTIFF
internal import FoundationEssentials
internal import TintypeImages

/// Writes a TIFF file with libtiff: 8 or 16 bits, premultiplied alpha where there is any.
struct TIFFEncoder {
    private let job: EncodeJob
    private let source: Image

    init(job: EncodeJob) {
        self.job = job
        source = job.image
    }

    func encode() throws(ImageError) -> Data {
        try job.fitWithoutLoss { () throws(ImageError) in
            let file = try file()
            return job.exif.flatMap(file.addingToTIFF) ?? file
        }
    }

    private func file() throws(ImageError) -> Data {
        let memory = TIFFMemory()
        guard let handle = memory.open(maximumAllocation: Int.max) else {
            throw job.failure("libtiff couldn't start a file: \(memory.message)")
        }
        let isWritten: Bool
        do throws(ImageError) {
            isWritten = setFields(handle, source.pixels) ? try write(source.pixels, to: handle) : false
        } catch {
            TIFFClose(handle)
            throw error
        }
        // Writes the directory.
        TIFFClose(handle)
        guard isWritten, memory.message.isEmpty else {
            throw job.failure("libtiff couldn't write the image: \(memory.message)")
        }
        return memory.written
    }

    private var samples: Int { source.hasAlpha ? 4 : 3 }

    /// About 64 KB of pixels: enough to compress well, little to read at once.
    private func rowsPerStrip(_ pixels: PixelBuffer) -> Int {
        max(1, min(pixels.height, (64 << 10) / (pixels.width * samples * pixels.format.bitsPerComponent / 8)))
    }

    private func setFields(_ handle: OpaquePointer, _ pixels: PixelBuffer) -> Bool {
        let size = pixels.size
        let bits = pixels.format.bitsPerComponent
        let fields: [(Int32, Int)] = [
            (TIFFTAG_IMAGEWIDTH, size.width), (TIFFTAG_IMAGELENGTH, size.height), (TIFFTAG_BITSPERSAMPLE, bits),
            (TIFFTAG_SAMPLESPERPIXEL, samples), (TIFFTAG_PHOTOMETRIC, Int(PHOTOMETRIC_RGB)),
            (TIFFTAG_PLANARCONFIG, Int(PLANARCONFIG_CONTIG)), (TIFFTAG_COMPRESSION, Int(COMPRESSION_ADOBE_DEFLATE)),
            (TIFFTAG_PREDICTOR, Int(PREDICTOR_HORIZONTAL)), (TIFFTAG_ROWSPERSTRIP, rowsPerStrip(pixels)),
            (TIFFTAG_ORIENTATION, Int(ORIENTATION_TOPLEFT)),
        ]
        for (tag, value) in fields where !set(handle, tag, [UInt32(value)]) { return false }
        if source.hasAlpha {
            let kinds = [UInt16(EXTRASAMPLE_ASSOCALPHA)]
            let isSet = kinds.withUnsafeBufferPointer { kinds in
                kinds.baseAddress.map { set(handle, TIFFTAG_EXTRASAMPLES, [UInt32(1), $0]) } ?? false
            }
            guard isSet else { return false }
        }
        return set(handle, TIFFTAG_ICCPROFILE, job.profile) && set(handle, TIFFTAG_XMLPACKET, job.xmp)
    }

    /// Sets a field of bytes, if there are any.
    private func set(_ handle: OpaquePointer, _ tag: Int32, _ bytes: Data?) -> Bool {
        guard let bytes, !bytes.isEmpty else { return true }
        return bytes.withUnsafeBytes { bytes in
            let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return base.map { set(handle, tag, [UInt32(bytes.count), $0]) } ?? true
        }
    }

    private func set(_ handle: OpaquePointer, _ tag: Int32, _ values: [any CVarArg]) -> Bool {
        withVaList(values) { TIFFVSetField(handle, UInt32(tag), $0) } == 1
    }

    private func write(_ pixels: PixelBuffer, to handle: OpaquePointer) throws(ImageError) -> Bool {
        let bytesPerPixel = pixels.format.bytesPerPixel
        let kept = bytesPerPixel / 4 * samples
        let rows = rowsPerStrip(pixels)
        let (width, height) = (pixels.width, pixels.height)
        // libtiff compresses whole strips with libdeflate, and single rows with zlib.
        var strip = [UInt8](repeating: 0, count: rows * width * kept)
        for top in stride(from: 0, to: height, by: rows) {
            try job.context.checkCancellation()
            let count = min(rows, height - top)
            strip.withUnsafeMutableBufferPointer { strip in
                for y in 0..<count {
                    pixels.withRow(top + y) { bytes in
                        for x in 0..<width {
                            for byte in 0..<kept {
                                strip[(y * width + x) * kept + byte] = bytes[x * bytesPerPixel + byte]
                            }
                        }
                    }
                }
            }
            let size = tmsize_t(count * width * kept)
            guard TIFFWriteEncodedStrip(handle, UInt32(top / rows), &strip, size) == size else { return false }
        }
        return true
    }
}
#endif
