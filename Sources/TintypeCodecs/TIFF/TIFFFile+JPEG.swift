#if TIFF
internal import CTIFF
internal import TintypeImages

extension TIFFFile {
    /// Checks that each strip or tile that is a JPEG image covers its part of the page.
    ///
    /// libtiff only warns about smaller ones (4.5.0, `JPEGPreDecode`), and leaves the rest of the part as the memory was.
    /// - Throws: ``ImageError/Code/corruptImage``
    /// - Complexity: O(strips), and the bytes before the first scan of each.
    func checkJPEGParts() throws(ImageError) {
        guard Int32(Self.short(handle, TIFFTAG_COMPRESSION)) == COMPRESSION_JPEG else { return }
        let isTiled = TIFFIsTiled(handle) != 0
        let partWidth = isTiled ? Int(Self.long(handle, TIFFTAG_TILEWIDTH)) : info.size.width
        guard partWidth > 0 else { return }
        let columns = (info.size.width + partWidth - 1) / partWidth
        let rows = (info.size.height + rowsPerBand - 1) / rowsPerBand
        // Further planes may be smaller, because chroma is.
        for part in 0..<columns * rows {
            guard let stored = sizeOfJPEG(UInt32(part)) else { continue }
            let needed = PixelSize(
                width: min(partWidth, info.size.width - part % columns * partWidth),
                height: min(rowsPerBand, info.size.height - part / columns * rowsPerBand))
            guard stored.width >= needed.width, stored.height >= needed.height else {
                throw .corrupt("a part of the TIFF file has \(stored) pixels where the page needs \(needed)")
            }
        }
    }

    /// Returns the size in the frame header of a strip or tile; `nil` if that isn't there, which libtiff reports.
    private func sizeOfJPEG(_ part: UInt32) -> PixelSize? {
        let (start, count) = (TIFFGetStrileOffset(handle, part), TIFFGetStrileByteCount(handle, part))
        guard start < bytes.count, count > 0 else { return nil }
        let range = Int(start)..<Int(start) + Int(min(count, UInt64(bytes.count) - start))
        return JPEGSegments(UnsafeRawBufferPointer(rebasing: bytes[range])).size
    }
}
#endif
