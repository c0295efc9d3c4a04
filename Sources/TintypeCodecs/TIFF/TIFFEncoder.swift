#if TIFF
internal import CTIFF
internal import FoundationEssentials
internal import TintypeCore

/// Writes a TIFF file with libtiff: 8 or 16 bits, Deflate, premultiplied alpha where there is any.
struct TIFFEncoder {
    let source: Image
    let maximumBytes: Int?
    /// An ICC profile to put into the file.
    let profile: Data?

    func encode() throws(ImageError) -> Data {
        guard let pixels = source.frames.first?.pixels else { throw failure("the image has no frame") }
        let memory = TIFFMemory()
        guard let handle = memory.open(maximumAllocation: Int.max) else {
            throw failure("libtiff could not begin a file: \(memory.message)")
        }
        let isWritten = setFields(handle, pixels) && write(pixels, to: handle)
        // Writes the directory.
        TIFFClose(handle)
        guard isWritten, memory.message.isEmpty else {
            throw failure("libtiff could not write the image: \(memory.message)")
        }
        guard memory.written.count <= maximumBytes ?? .max else {
            throw EncodePreparation.tooLarge(maximumBytes, .tiff)
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
        guard let profile else { return true }
        return profile.withUnsafeBytes { bytes in
            let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return base.map { set(handle, TIFFTAG_ICCPROFILE, [UInt32(bytes.count), $0]) } ?? true
        }
    }

    private func set(_ handle: OpaquePointer, _ tag: Int32, _ values: [any CVarArg]) -> Bool {
        withVaList(values) { TIFFVSetField(handle, UInt32(tag), $0) } == 1
    }

    private func write(_ pixels: PixelBuffer, to handle: OpaquePointer) -> Bool {
        let bytesPerPixel = pixels.format.bytesPerPixel
        let kept = bytesPerPixel / 4 * samples
        var row = [UInt8](repeating: 0, count: pixels.width * kept)
        for y in 0..<pixels.height {
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

    private func failure(_ reason: String) -> ImageError { ImageError(.encodeFailed, stage: .encode, reason: reason) }
}
#endif
