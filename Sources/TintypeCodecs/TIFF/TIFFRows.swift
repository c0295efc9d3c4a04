#if TIFF
internal import CKernels
internal import CTIFF
internal import TintypeImages

/// Makes premultiplied RGBA of 8 or 16 bits of a page's samples.
///
/// Numbers of 12 and 16 bits are rounded to 8, after their colors are converted, or kept. ``TIFFSampleRange`` has the white level of
/// numbers of 32 bits and of floating point.
final class TIFFRows {
    private let bands: TIFFSampleBands
    private let layout: TIFFLayout
    private let format: PixelFormat
    /// The format of straight pixels, before they are rounded.
    private let working: PixelFormat
    private let conversion: ColorConversion?
    private let colorRange: TIFFSampleRange
    private let alphaRange: TIFFSampleRange
    /// Room for a row of inks, of L*a*b*, or of indices.
    private let scratch: UnsafeMutableRawPointer
    /// Room for a row that is rounded.
    private let deep: UnsafeMutableRawPointer

    /// - Parameters:
    ///   - bands: The samples of the page.
    ///   - layout: Their layout.
    ///   - format: The format of finished rows: 8 or 16 bits.
    ///   - conversion: The conversion from the profile of the page.
    ///   - color: The range of the samples of colors.
    ///   - alpha: The range of those of transparency.
    init(
        _ bands: TIFFSampleBands, layout: TIFFLayout, format: PixelFormat, conversion: ColorConversion?,
        color: TIFFSampleRange, alpha: TIFFSampleRange
    ) {
        self.bands = bands
        self.layout = layout
        self.format = format
        self.conversion = conversion
        (colorRange, alphaRange) = (color, alpha)
        // Rows that lie together are rounded as a whole.
        let isDeep = layout.sample == .uint(bits: 16) && layout.color == .rgb && !layout.isPlanar
        working = conversion?.format ?? (isDeep ? .rgba16 : format)
        let (scratchBytes, deepBytes) = (
            layout.width * max(working.bytesPerPixel, 12), layout.width * working.bytesPerPixel
        )
        scratch = .allocate(byteCount: scratchBytes, alignment: 16)
        scratch.initializeMemory(as: UInt8.self, repeating: 0, count: scratchBytes)
        deep = .allocate(byteCount: deepBytes, alignment: 16)
        deep.initializeMemory(as: UInt8.self, repeating: 0, count: deepBytes)
    }

    deinit {
        scratch.deallocate()
        deep.deallocate()
    }

    /// Writes row `y` of the band that was read last.
    func convert(_ y: Int, to row: UnsafeMutableRawPointer) {
        let target = working == format ? row : deep
        let width = layout.width
        var isStraight = layout.alpha != nil
        switch layout.color {
        case .gray, .invertedGray, .rgb, .palette:
            copyPixels(y, to: target)
            if layout.color == .invertedGray { invert(target) }
            if layout.alpha?.isPremultiplied == true {
                Premultiplication.clamp(target, count: width, format: working)
                // Numbers that are not converted stay exactly the same.
                isStraight = conversion != nil
                if isStraight { Premultiplication.unpremultiply(target, count: width, format: working) }
            }
            conversion?.convert(target, count: width)
        case .cmyk:
            for component in 0..<4 { copy(component, y, to: scratch, component) }
            if layout.alpha?.isPremultiplied == true {
                setAlpha(y, target)
                divideInk(by: target)
            }
            convertInk(to: target)
            setAlpha(y, target)
        case .lab(let encoding):
            let lab = scratch.assumingMemoryBound(to: Float.self)
            for component in 0..<3 {
                bands.samples(component, y)?.copy(layout.sample, encoding, component: component, to: lab)
            }
            LabConversion.convert(lab, to: target, format: working, count: width)
            setAlpha(y, target)
        }
        if working != format {
            DepthRounding.round(deep.assumingMemoryBound(to: UInt16.self), to: row, count: width)
        }
        if isStraight { Premultiplication.premultiply(row, count: width, format: format) }
    }

    /// Writes red, green, blue and alpha.
    private func copyPixels(_ y: Int, to row: UnsafeMutableRawPointer) {
        switch layout.color {
        case .palette: copyFromPalette(y, to: row)
        case .rgb:
            if copyTogether(y, to: row) { return }
            for component in 0..<3 { copy(component, y, to: row, component) }
        default:
            copy(0, y, to: row, 0)
            if working == .rgba8 { spread(UInt8.self, row) } else { spread(UInt16.self, row) }
        }
        setAlpha(y, row)
    }

    /// Writes a row of samples that lie as they are to lie.
    /// - Returns: `false` for other rows.
    private func copyTogether(_ y: Int, to row: UnsafeMutableRawPointer) -> Bool {
        guard layout.sample == .uint(bits: working.bytesPerPixel * 2), !layout.isPlanar,
            let samples = bands.samples(0, y)
        else { return false }
        let kernels = RowKernels.available[0]
        switch (samples.step, working) {
        case (3, .rgba8):
            kernels.expand(
                row.assumingMemoryBound(to: UInt8.self), samples.row.assumingMemoryBound(to: UInt8.self), false,
                layout.width)
        case (3, _):
            kernels.expand_words(
                row.assumingMemoryBound(to: UInt16.self), samples.row.assumingMemoryBound(to: UInt16.self),
                layout.width)
        case (4, _):
            row.copyMemory(from: samples.row, byteCount: layout.width * working.bytesPerPixel)
            // The fourth isn't alpha.
            if layout.alpha == nil { setAlpha(y, row) }
        default: return false
        }
        return true
    }

    /// Gives green and blue the number that red has.
    private func spread<Number: FixedWidthInteger>(_: Number.Type, _ row: UnsafeMutableRawPointer) {
        let numbers = row.assumingMemoryBound(to: Number.self)
        for place in stride(from: 0, to: layout.width * 4, by: 4) {
            numbers[place + 1] = numbers[place]
            numbers[place + 2] = numbers[place]
        }
    }

    private func copyFromPalette(_ y: Int, to row: UnsafeMutableRawPointer) {
        guard let samples = bands.samples(0, y) else { return }
        let indices = scratch.assumingMemoryBound(to: UInt16.self)
        samples.copyIndices(layout.sample, to: indices)
        layout.palette.withUnsafeBufferPointer { palette in
            for x in 0..<layout.width {
                let color = palette[Int(indices[x])]
                if working == .rgba8 {
                    // Writers multiply 8 bits by 256 or by 257.
                    row.storeBytes(
                        of: SIMD4<UInt8>(truncatingIfNeeded: color &>> 8), toByteOffset: x * 4, as: SIMD4<UInt8>.self)
                } else {
                    row.storeBytes(of: color, toByteOffset: x * 8, as: SIMD4<UInt16>.self)
                }
            }
        }
    }

    private func convertInk(to target: UnsafeMutableRawPointer) {
        if let conversion {
            conversion.convert(cmyk: scratch, to: target, count: layout.width)
        } else {
            ColorConversion.convertNaively(
                cmyk: scratch, inverted: false, to: target, format: working, count: layout.width)
        }
    }

    /// Undoes the multiplication of inks by alpha.
    private func divideInk(by pixels: UnsafeMutableRawPointer) {
        func divide<Number: FixedWidthInteger & UnsignedInteger>(_: Number.Type) {
            let ink = scratch.assumingMemoryBound(to: Number.self)
            let pixels = pixels.assumingMemoryBound(to: Number.self)
            let most = UInt32(Number.max)
            for x in 0..<layout.width {
                let alpha = UInt32(pixels[x * 4 + 3])
                guard alpha > 0, alpha < most else { continue }
                for place in x * 4..<x * 4 + 4 {
                    ink[place] = Number(min(most, (UInt32(ink[place]) * most + alpha / 2) / alpha))
                }
            }
        }
        if working == .rgba8 { divide(UInt8.self) } else { divide(UInt16.self) }
    }

    /// Makes light of gray that counts from white; premultiplied gray counts from alpha.
    private func invert(_ pixels: UnsafeMutableRawPointer) {
        let isPremultiplied = layout.alpha?.isPremultiplied == true
        func invert<Number: FixedWidthInteger & UnsignedInteger>(_: Number.Type) {
            let numbers = pixels.assumingMemoryBound(to: Number.self)
            for x in 0..<layout.width {
                let white = isPremultiplied ? numbers[x * 4 + 3] : .max
                let light = white - min(white, numbers[x * 4])
                for component in 0..<3 { numbers[x * 4 + component] = light }
            }
        }
        if working == .rgba8 { invert(UInt8.self) } else { invert(UInt16.self) }
    }

    /// Writes the alpha of the page, or makes the pixels opaque.
    private func setAlpha(_ y: Int, _ pixels: UnsafeMutableRawPointer) {
        if let alpha = layout.alpha { return copy(alpha.sample, y, to: pixels, 3) }
        func makeOpaque<Pixel: FixedWidthInteger>(_ alpha: Pixel) {
            let row = pixels.assumingMemoryBound(to: Pixel.self)
            for x in 0..<layout.width { row[x] |= alpha }
        }
        if working == .rgba8 { makeOpaque(0xFF00_0000 as UInt32) } else { makeOpaque(0xFFFF_0000_0000_0000 as UInt64) }
    }

    /// Writes a sample of each pixel to a component of a row.
    private func copy(_ sample: Int, _ y: Int, to row: UnsafeMutableRawPointer, _ component: Int) {
        guard let samples = bands.samples(sample, y) else { return }
        let range = sample == layout.alpha?.sample ? alphaRange : colorRange
        if working == .rgba8 {
            samples.copy(layout.sample, range, to: row.assumingMemoryBound(to: UInt8.self) + component)
        } else {
            samples.copy(layout.sample, range, to: row.assumingMemoryBound(to: UInt16.self) + component)
        }
    }
}
#endif
