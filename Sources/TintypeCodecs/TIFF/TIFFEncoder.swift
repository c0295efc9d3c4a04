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

    private func setFields(_ handle: OpaquePointer, _ pixels: PixelBuffer) -> Bool {
        let size = pixels.size
        let bits = pixels.format.bitsPerComponent
        // About 64 KB of pixels to a strip: enough to compress well, little to read at once.
        let rows = max(1, min(size.height, (64 << 10) / (size.width * samples * bits / 8)))
        let fields: [(Int32, Int)] = [
            (TIFFTAG_IMAGEWIDTH, size.width), (TIFFTAG_IMAGELENGTH, size.height), (TIFFTAG_BITSPERSAMPLE, bits),
            (TIFFTAG_SAMPLESPERPIXEL, samples), (TIFFTAG_PHOTOMETRIC, Int(PHOTOMETRIC_RGB)),
            (TIFFTAG_PLANARCONFIG, Int(PLANARCONFIG_CONTIG)), (TIFFTAG_COMPRESSION, Int(COMPRESSION_ADOBE_DEFLATE)),
            (TIFFTAG_PREDICTOR, Int(PREDICTOR_HORIZONTAL)), (TIFFTAG_ROWSPERSTRIP, rows),
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
        var row = [UInt8](repeating: 0, count: pixels.width * kept)
        for y in 0..<pixels.height {
            if y & 255 == 255 { try job.context.checkCancellation() }
            pixels.withRow(y) { bytes in
                // libtiff changes the row in place, so it gets a copy also where nothing is left out.
                for x in 0..<pixels.width {
                    for byte in 0..<kept { row[x * kept + byte] = bytes[x * bytesPerPixel + byte] }
                }
            }
            guard TIFFWriteScanline(handle, &row, UInt32(y), 0) == 1 else { return false }
        }
        return true
    }
}
#endif
