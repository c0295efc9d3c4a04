#if JXL
internal import FoundationEssentials
internal import TintypeImages

/// Makes sRGB of a file in inks: cyan, magenta and yellow come in the place of red, green and blue, black in a plane of its own.
/// 0 is all the ink there is (ISO/IEC 18181-1, section on extra channels).
final class JXLInk {
    /// The memory that libjxl writes the black of a frame to.
    let black: UnsafeMutableRawBufferPointer
    private let conversion: ColorConversion?
    private let format: PixelFormat

    /// - Parameter format: of 8 or 16 bits.
    init(profile: Data?, size: PixelSize, format: PixelFormat) throws(ImageError) {
        let (bytes, overflow) = size.pixelCount.multipliedReportingOverflow(by: format.bytesPerPixel / 4)
        guard !overflow else { throw .corrupt("the JPEG XL file has the invalid size \(size)") }
        self.format = format
        conversion = profile.flatMap { RecentConversions.conversion(of: $0, .cmyk(inverted: true), format) }
        black = .allocate(byteCount: max(1, bytes), alignment: 16)
        // No ink, where a file that is cut has none.
        black.initializeMemory(as: UInt8.self, repeating: 255)
    }

    deinit { black.deallocate() }

    /// Converts the inks of row `y` in place; alpha stays.
    func convert(_ row: UnsafeMutableRawPointer, _ y: Int, count: Int) {
        guard let black = black.baseAddress else { return }
        if format == .rgba8 {
            mix(row.assumingMemoryBound(to: UInt8.self), black.assumingMemoryBound(to: UInt8.self) + y * count, count)
        } else {
            mix(row.assumingMemoryBound(to: UInt16.self), black.assumingMemoryBound(to: UInt16.self) + y * count, count)
        }
    }

    private func mix<Component: FixedWidthInteger>(
        _ row: UnsafeMutablePointer<Component>, _ black: UnsafePointer<Component>, _ count: Int
    ) {
        withUnsafeTemporaryAllocation(of: Component.self, capacity: count * 8) { scratch in
            guard let ink = scratch.baseAddress else { return }
            let colors = ink + count * 4
            for x in 0..<count {
                for component in 0..<3 { ink[x * 4 + component] = row[x * 4 + component] }
                ink[x * 4 + 3] = black[x]
            }
            if let conversion {
                conversion.convert(cmyk: ink, to: colors, count: count)
            } else {
                ColorConversion.convertNaively(cmyk: ink, inverted: true, to: colors, format: format, count: count)
            }
            for x in 0..<count {
                for component in 0..<3 { row[x * 4 + component] = colors[x * 4 + component] }
            }
        }
    }
}
#endif
