internal import TintypeImages

/// The header of a Windows or OS/2 bitmap: the facts needed to find and read its pixels.
///
/// Source: Microsoft, "Bitmap Storage" (BITMAPCOREHEADER to BITMAPV5HEADER), and the OS/2 2.0 bitmap header.
struct BMPHeader {
    enum Compression {
        case none, runLength8, runLength4
        /// The pixels are a whole JPEG or PNG file, as printers are sent them.
        case file
    }

    let size: PixelSize
    private let isIcon: Bool
    let isTopDown: Bool
    let bitsPerPixel: Int
    let compression: Compression
    /// The bits of red, green, blue and alpha in a pixel of 16 to 32 bits; zero for a component that is not there.
    let masks: SIMD4<UInt32>
    /// The masks of 24 bits where a file states none.
    static let plainMasks: SIMD4<UInt32> = [0xFF_0000, 0xFF00, 0xFF, 0]
    /// The colors of a palette, opaque.
    let palette: [UInt32]
    /// The start of the pixels.
    let pixels: Int

    var bytesPerRow: Int { (size.width * bitsPerPixel + 31) / 32 * 4 }
    var hasAlpha: Bool { masks.w != 0 }

    /// - Parameter isIcon: for the bitmap of an icon, which has no file header, twice its height for the mask behind it, and
    ///   alpha in pixels of 32 bits.
    /// - Throws: ``ImageError/Code/truncatedImage``, ``ImageError/Code/corruptImage``, and
    ///   ``ImageError/Code/formatNotEnabled`` for a compression that is not read.
    init(_ bytes: UnsafeRawBufferPointer, isIcon: Bool = false) throws(ImageError) {
        var reader = LittleEndianReader(bytes)
        var stated: Int?
        if !isIcon {
            guard try reader.take(2).elementsEqual("BM".utf8) else {
                throw .corrupt("the data doesn't start with the signature of a BMP")
            }
            try reader.skip(8)
            stated = try reader.uint32()
        }
        let start = reader.offset
        let length = try reader.uint32()
        guard [12, 16, 40, 52, 56, 64, 108, 124].contains(length) else {
            throw .corrupt("the header of the BMP has the invalid length of \(length) bytes")
        }
        let isCore = length == 12
        let width = isCore ? try reader.uint16() : try reader.int32()
        let height = isCore ? try reader.uint16() : try reader.int32()
        try reader.skip(2)
        let bits = try reader.uint16()
        let method = length >= 40 ? try reader.uint32() : 0
        var colors = 0
        if length >= 40 {
            try reader.skip(12)
            colors = try reader.uint32()
            try reader.skip(4)
        }
        self.isIcon = isIcon
        isTopDown = height < 0
        size = PixelSize(width: width, height: abs(height) / (isIcon ? 2 : 1))
        guard !size.isEmpty else { throw .corrupt("the BMP has the invalid size \(size)") }
        guard [1, 2, 4, 8, 16, 24, 32].contains(bits) || bits == 0 && method >= 4 else {
            throw .corrupt("the BMP has the invalid depth of \(bits) bits per pixel")
        }
        bitsPerPixel = bits
        (compression, masks) = try Self.layout(method, bits, length, isIcon: isIcon, &reader)
        try reader.skip(to: max(reader.offset, start + length))
        let count = bits > 8 || bits == 0 ? 0 : colors == 0 ? 1 << bits : min(colors, 256)
        let entry = isCore ? 3 : 4
        // Some writers forget the palette when they state where the pixels start.
        if count > 0, let place = stated, place < reader.offset + entry { stated = nil }
        palette = Self.palette(&reader, count: count, entry: entry, end: stated ?? bytes.count)
        // An icon's pixels follow its palette, and no file's pixels are within its header, as some writers state.
        pixels = max(stated ?? 0, reader.offset)
    }

    private static func layout(
        _ method: Int, _ bits: Int, _ length: Int, isIcon: Bool, _ reader: inout LittleEndianReader
    ) throws(ImageError) -> (Compression, SIMD4<UInt32>) {
        var masks: SIMD4<UInt32> = bits == 16 ? [0x7C00, 0x3E0, 0x1F, 0] : plainMasks
        switch method {
        case 0:
            if isIcon, bits == 32 { masks.w = 0xFF00_0000 }
            return (.none, masks)
        case 4 where bits == 0 && !isIcon, 5 where bits == 0 && !isIcon: return (.file, .zero)
        case 1 where bits == 8 && length != 12: return (.runLength8, .zero)
        case 2 where bits == 4 && length != 12: return (.runLength4, .zero)
        // GIMP states masks for 24 bits, too, which have no alpha.
        case 3 where [16, 24, 32].contains(bits) && length != 64, 6 where bits == 16 || bits == 32:
            for component in 0..<3 { masks[component] = UInt32(truncatingIfNeeded: try reader.uint32()) }
            let storesAlpha = (length >= 56 || method == 6) && bits != 24
            masks[3] = storesAlpha ? UInt32(truncatingIfNeeded: try reader.uint32()) : 0
            if bits == 24, masks == .zero { masks = plainMasks }
            for component in 0..<4 where !isContiguous(masks[component]) {
                throw .corrupt("a color mask of the BMP isn't contiguous")
            }
            return (.none, masks)
        default:
            throw ImageError(
                .formatNotEnabled, stage: .decode,
                reason: "BMP compression \(method) with \(bits) bits per pixel isn't supported")
        }
    }

    private static func isContiguous(_ mask: UInt32) -> Bool {
        guard mask != 0 else { return true }
        let shifted = mask >> UInt32(mask.trailingZeroBitCount)
        return shifted & (shifted &+ 1) == 0
    }

    /// Colors that the file has no room for are black.
    private static func palette(_ reader: inout LittleEndianReader, count: Int, entry: Int, end: Int) -> [UInt32] {
        var palette: [UInt32] = []
        while palette.count < count, reader.offset + entry <= end, let color = try? reader.take(entry) {
            palette.append(
                UInt32(color[2]) | UInt32(color[1]) << 8 | UInt32(color[0]) << 16 | 0xFF00_0000)
        }
        if count > 0 { palette += [UInt32](repeating: 0xFF00_0000, count: 256 - palette.count) }
        return palette
    }
}

extension BMPHeader {
    /// True if the alpha of the pixels counts. In icons, and with 16 bits, it has to show any of them: Photoshop and others state bits for an
    /// alpha that they leave at 0.
    /// - Complexity: O(transparent pixels before the first other one)
    func showsAlpha(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard hasAlpha, compression == .none else { return false }
        guard isIcon || bitsPerPixel == 16 else { return true }
        let step = bitsPerPixel / 8
        let rows = min(size.height, max(0, bytes.count - pixels) / bytesPerRow + 1)
        return (0..<rows).contains { y in
            let start = pixels + y * bytesPerRow
            return stride(from: start, through: min(start + size.width * step, bytes.count) - step, by: step).contains {
                let pixel =
                    step == 2
                    ? UInt32(bytes.loadUnaligned(fromByteOffset: $0, as: UInt16.self).littleEndian)
                    : bytes.loadUnaligned(fromByteOffset: $0, as: UInt32.self).littleEndian
                return pixel & masks.w != 0
            }
        }
    }

    var info: ImageInfo {
        let bits = (0..<4).map { masks[$0].nonzeroBitCount }.max() ?? 0
        return ImageInfo(
            format: .bmp, size: size, hasAlpha: hasAlpha || compression != .none,
            bitsPerComponent: bitsPerPixel == 16 || bitsPerPixel == 32 ? max(1, bits) : 8)
    }
}
