#if TIFF
internal import CTIFF
internal import TintypeImages

extension TIFFFile {
    /// Checks that the strips or tiles that start at a row cover their part of the page, if they are JPEG images.
    ///
    /// libtiff only warns about smaller pictures (4.5.0, `JPEGPreDecode`), and leaves the rest of the part as the memory was.
    /// - Throws: ``ImageError/Code/corruptImage``
    /// - Complexity: O(bytes before the frame headers), which ``checkSharedParts()`` has bounded.
    func checkJPEGParts(from top: Int) throws(ImageError) {
        guard Int32(Self.short(handle, TIFFTAG_COMPRESSION)) == COMPRESSION_JPEG else { return }
        let partWidth = TIFFIsTiled(handle) != 0 ? Int(Self.long(handle, TIFFTAG_TILEWIDTH)) : info.size.width
        guard partWidth > 0 else { return }
        let columns = (info.size.width + partWidth - 1) / partWidth
        let height = min(rowsPerBand, info.size.height - top)
        // Further planes may be smaller, because chroma is.
        for column in 0..<columns {
            guard let stored = sizeOfJPEG(UInt32(top / rowsPerBand * columns + column)) else { continue }
            let needed = PixelSize(width: min(partWidth, info.size.width - column * partWidth), height: height)
            guard stored.width >= needed.width, stored.height >= needed.height else {
                throw .corrupt("a part of the TIFF file has \(stored) pixels where the page needs \(needed)")
            }
        }
    }

    /// Returns the size in the frame header of a strip or tile (ITU-T T.81, annex B); `nil` if that isn't there, which libtiff reports.
    private func sizeOfJPEG(_ part: UInt32) -> PixelSize? {
        let (start, count) = (TIFFGetStrileOffset(handle, part), TIFFGetStrileByteCount(handle, part))
        guard start < bytes.count, count > 0 else { return nil }
        let end = Int(start) + Int(min(count, UInt64(bytes.count) - start))
        var offset = Int(start)
        while offset < end {
            guard bytes[offset] == 0xFF else {
                offset += 1
                continue
            }
            while offset < end, bytes[offset] == 0xFF { offset += 1 }
            guard offset < end else { return nil }
            let marker = bytes[offset]
            offset += 1
            switch marker {
            case 0x00, 0x01, 0xD0...0xD8: continue
            case 0xD9, 0xDA: return nil
            case 0xC0...0xCF where marker != 0xC4 && marker != 0xC8 && marker != 0xCC:
                guard offset + 7 <= end, let height = bytes.bigEndian16(at: offset + 3),
                    let width = bytes.bigEndian16(at: offset + 5)
                else { return nil }
                return PixelSize(width: width, height: height)
            default:
                guard let length = bytes.bigEndian16(at: offset) else { return nil }
                offset += max(2, length)
            }
        }
        return nil
    }
}
#endif
