internal import CGIF
internal import FoundationEssentials
internal import TintypeImages

/// giflib's writer, into memory.
final class GIFWriter {
    private final class Output {
        var data = Data()
    }

    private let output = Output()
    private var file: UnsafeMutablePointer<GifFileType>?

    init(size: PixelSize) throws(ImageError) {
        var error: Int32 = 0
        let write: OutputFunc = { file, bytes, count in
            guard let file, let bytes, let target = file.pointee.UserData else { return 0 }
            Unmanaged<Output>.fromOpaque(target).takeUnretainedValue().data.append(bytes, count: Int(count))
            return count
        }
        // The output lives as long as the writer, which closes the file before it goes.
        file = EGifOpen(Unmanaged.passUnretained(output).toOpaque(), write, &error)
        guard let file else { throw Self.failure("giflib reported error \(error)") }
        EGifSetGifVersion(file, true)
        try check(EGifPutScreenDesc(file, Int32(size.width), Int32(size.height), 8, 0, nil))
    }

    deinit {
        var error: Int32 = 0
        if let file { EGifCloseFile(file, &error) }
    }

    /// Writes the extension of Netscape 2.0, which precedes the first frame, and states how often the animation is repeated.
    /// - Parameter loopCount: the number of times that it is played, 0 to repeat it forever.
    func write(loopCount: Int) throws(ImageError) {
        let count = loopCount <= 0 ? 0 : min(max(loopCount - 1, 1), 65_535)
        let name = Array("NETSCAPE2.0".utf8)
        let block: [UInt8] = [1, UInt8(count & 0xFF), UInt8(count >> 8)]
        try check(EGifPutExtensionLeader(file, APPLICATION_EXT_FUNC_CODE))
        try check(EGifPutExtensionBlock(file, Int32(name.count), name))
        try check(EGifPutExtensionBlock(file, Int32(block.count), block))
        try check(EGifPutExtensionTrailer(file))
    }

    /// - Parameters:
    ///   - indices: of the colors of the rectangle.
    ///   - delay: in hundredths of a second.
    ///   - hasTransparentIndex: whether the index behind the last color is transparent.
    ///   - context: asked for cancellation every 64 rows.
    func write(
        _ indices: [UInt8], rect: PixelRect, palette: [SIMD3<UInt8>], delay: Int, clearsAfterwards: Bool,
        hasTransparentIndex: Bool, context: ProcessingContext
    ) throws(ImageError) {
        let colors = palette.count + (hasTransparentIndex ? 1 : 0)
        let transparent = hasTransparentIndex ? UInt8(palette.count) : nil
        let control: [UInt8] = [
            (clearsAfterwards ? 2 << 2 : 1 << 2) | (hasTransparentIndex ? 1 : 0), UInt8(delay & 0xFF),
            UInt8(delay >> 8),
            transparent ?? 0,
        ]
        try check(EGifPutExtension(file, GRAPHICS_EXT_FUNC_CODE, Int32(control.count), control))
        var map = palette.map { GifColorType(Red: $0.x, Green: $0.y, Blue: $0.z) }
        var size = 2
        while size < colors { size *= 2 }
        map += [GifColorType](repeating: GifColorType(), count: size - map.count)
        guard let colorMap = GifMakeMapObject(Int32(size), map) else {
            throw Self.failure("giflib couldn't allocate memory")
        }
        defer { GifFreeMapObject(colorMap) }
        let (width, height) = (rect.size.width, rect.size.height)
        try check(
            EGifPutImageDesc(file, Int32(rect.x), Int32(rect.y), Int32(width), Int32(height), false, colorMap))
        for y in 0..<height {
            if y % 64 == 0 { try context.checkCancellation() }
            // giflib masks the row in place.
            var row = Array(indices[y * width..<(y + 1) * width])
            try check(EGifPutLine(file, &row, Int32(width)))
        }
    }

    /// Writes the trailer and gives the bytes.
    func finish() throws(ImageError) -> Data {
        var error: Int32 = 0
        let closed = EGifCloseFile(file, &error)
        file = nil
        guard closed == GIF_OK else { throw Self.failure("giflib reported error \(error)") }
        return output.data
    }

    private func check(_ result: Int32) throws(ImageError) {
        guard result == GIF_OK else { throw Self.failure("giflib reported error \(file?.pointee.Error ?? 0)") }
    }

    private static func failure(_ reason: String) -> ImageError {
        ImageError(.encodeFailed, stage: .encode, reason: "the GIF couldn't be written: \(reason)")
    }
}
