#if TIFF
internal import CTIFF
internal import TintypeImages

extension TIFFFile {
    /// Checks that the strips or tiles that start at a row cover their part of the page, if they are JPEG images, and that they don't cost
    /// much.
    ///
    /// libtiff only warns about smaller pictures (4.5.0, `JPEGPreDecode`), and leaves the rest of the part as the memory was.
    /// - Throws: ``ImageError/Code/corruptImage``, and ``ImageError/Code/limitExceeded`` for images with several scans that have many pixels.
    /// - Complexity: O(bytes before the frame headers), which ``checkSharedParts()`` has bounded.
    func checkJPEGParts(from top: Int) throws(ImageError) {
        guard Int32(Self.short(handle, TIFFTAG_COMPRESSION)) == COMPRESSION_JPEG else { return }
        let partWidth = TIFFIsTiled(handle) != 0 ? Int(Self.long(handle, TIFFTAG_TILEWIDTH)) : info.size.width
        guard partWidth > 0 else { return }
        let columns = (info.size.width + partWidth - 1) / partWidth
        let height = min(rowsPerBand, info.size.height - top)
        let partsOfPlane = columns * ((info.size.height + rowsPerBand - 1) / rowsPerBand)
        for plane in planes {
            for column in 0..<columns {
                let part = plane * partsOfPlane + top / rowsPerBand * columns + column
                guard let stored = try sizeOfJPEG(UInt32(clamping: part)) else { continue }
                // Further planes may be smaller, because chroma is.
                guard plane == 0 else { continue }
                let needed = PixelSize(width: min(partWidth, info.size.width - column * partWidth), height: height)
                guard stored.width >= needed.width, stored.height >= needed.height else {
                    throw .corrupt(
                        "a JPEG strip or tile of the TIFF file has \(stored) pixels, but the page needs \(needed)")
                }
            }
        }
    }

    /// The planes with strips or tiles of their own.
    private var planes: [Int] {
        if let layout { return layout.planes }
        guard Int32(Self.short(handle, TIFFTAG_PLANARCONFIG)) == PLANARCONFIG_SEPARATE else { return [0] }
        return Array(0..<max(1, min(4, Int(Self.short(handle, TIFFTAG_SAMPLESPERPIXEL)))))
    }

    /// The most pixels of images with several scans, which libtiff doesn't write, and of their page. It reads up to 100 scans of each strip,
    /// in a call that can't be canceled: 100 scans of 16 MP take 2 s, and 10 KB of the file.
    private static let mostScannedPixels = 1 << 24

    /// Returns the size in the frame header of a strip or tile (ITU-T T.81, annex B); `nil` if that isn't there, which libtiff reports.
    /// - Throws: see ``checkJPEGParts(from:)``.
    private func sizeOfJPEG(_ part: UInt32) throws(ImageError) -> PixelSize? {
        let (start, count) = (TIFFGetStrileOffset(handle, part), TIFFGetStrileByteCount(handle, part))
        guard start < bytes.count, count > 0 else { return nil }
        let end = Int(start) + Int(min(count, UInt64(bytes.count) - start))
        var offset = Int(start)
        var frame: (size: PixelSize, components: UInt8, isProgressive: Bool)?
        while offset < end {
            guard bytes[offset] == 0xFF else {
                offset += 1
                continue
            }
            while offset < end, bytes[offset] == 0xFF { offset += 1 }
            guard offset < end else { break }
            let marker = bytes[offset]
            offset += 1
            switch marker {
            case 0x00, 0x01, 0xD0...0xD8: continue
            case 0xD9: return frame?.size
            case 0xDA:
                guard let frame, offset + 2 < end else { return frame?.size }
                // Without all components in the first scan, further scans follow.
                if frame.isProgressive || bytes[offset + 2] < frame.components {
                    // Tiles may be larger than the page, and so may a last strip.
                    scannedPixels += frame.size.pixelCount
                    try checkScannedPixels()
                }
                return frame.size
            case 0xC0...0xCF where marker != 0xC4 && marker != 0xC8 && marker != 0xCC:
                guard offset + 8 <= end, let length = bytes.bigEndian16(at: offset),
                    let height = bytes.bigEndian16(at: offset + 3), let width = bytes.bigEndian16(at: offset + 5)
                else { return frame?.size }
                let size = PixelSize(width: width, height: height)
                frame = frame ?? (size, bytes[offset + 7], marker == 0xC2 || marker == 0xCA)
                offset += max(2, length)
            default:
                guard let length = bytes.bigEndian16(at: offset) else { return frame?.size }
                offset += max(2, length)
            }
        }
        return frame?.size
    }

    private func checkScannedPixels() throws(ImageError) {
        guard max(info.size.pixelCount, scannedPixels) <= Self.mostScannedPixels else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the TIFF file has JPEG images with several scans, such as progressive JPEG, on a page of "
                    + "\(info.size); the limit for both is \(Self.mostScannedPixels) pixels")
        }
    }
}
#endif
