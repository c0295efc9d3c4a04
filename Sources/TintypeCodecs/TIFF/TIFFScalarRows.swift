#if TIFF
internal import CTIFF
internal import TintypeCore

/// Rows of one number a pixel that libtiff makes no colours of: integers of 12 and 32 bits, and floating point.
///
/// Numbers of 12 bits are scaled to 8. Of 32 bits and floating point no file says what is white: values from 0 to 255 are
/// shown as they are, others are cut off, as other readers do.
struct TIFFScalarRows {
    private enum Kind { case bits12, bits32, signed32, float32, float64 }

    private let file: TIFFFile
    private let kind: Kind
    private let isInverted: Bool
    private let buffer: TIFFScanline

    /// - Returns: `nil` for pages that libtiff's own conversion takes.
    init?(_ file: TIFFFile) {
        let handle = file.handle
        let photometric = Int32(TIFFFile.short(handle, TIFFTAG_PHOTOMETRIC))
        guard TIFFIsTiled(handle) == 0, TIFFFile.short(handle, TIFFTAG_SAMPLESPERPIXEL) == 1,
            photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_MINISWHITE
        else { return nil }
        let format = Int32(TIFFFile.short(handle, TIFFTAG_SAMPLEFORMAT))
        switch (TIFFFile.short(handle, TIFFTAG_BITSPERSAMPLE), format) {
        case (12, SAMPLEFORMAT_UINT): kind = .bits12
        case (32, SAMPLEFORMAT_UINT): kind = .bits32
        case (32, SAMPLEFORMAT_INT): kind = .signed32
        case (32, SAMPLEFORMAT_IEEEFP): kind = .float32
        case (64, SAMPLEFORMAT_IEEEFP): kind = .float64
        default: return nil
        }
        let size = Int(TIFFScanlineSize(handle))
        guard size > 0, size <= file.info.size.width * 8 + 8 else { return nil }
        buffer = TIFFScanline(count: size)
        isInverted = photometric == PHOTOMETRIC_MINISWHITE
        self.file = file
    }

    /// Reads a row as opaque RGBA.
    /// - Returns: false if it cannot be read.
    func read(_ y: Int, into row: UnsafeMutableRawPointer) -> Bool {
        guard TIFFReadScanline(file.handle, buffer.bytes.baseAddress, UInt32(y), 0) == 1 else { return false }
        for x in 0..<file.info.size.width {
            let value = value(x)
            let level = isInverted ? 255 - value : value
            row.storeBytes(of: SIMD4(level, level, level, 255), toByteOffset: x * 4, as: SIMD4<UInt8>.self)
        }
        return true
    }

    private func value(_ x: Int) -> UInt8 {
        let bytes = UnsafeRawBufferPointer(buffer.bytes)
        switch kind {
        case .bits12:
            // Two numbers in three bytes, the high bits first.
            let start = x / 2 * 3
            guard start + 1 + x % 2 < bytes.count else { return 0 }
            let number =
                x % 2 == 0
                ? Int(bytes[start]) << 4 | Int(bytes[start + 1]) >> 4
                : Int(bytes[start + 1] & 15) << 8 | Int(bytes[start + 2])
            return UInt8((number * 255 + 2_047) / 4_095)
        case .bits32: return UInt8(min(255, bytes.loadUnaligned(fromByteOffset: x * 4, as: UInt32.self)))
        case .signed32: return UInt8(max(0, min(255, bytes.loadUnaligned(fromByteOffset: x * 4, as: Int32.self))))
        case .float32: return Self.cut(Double(bytes.loadUnaligned(fromByteOffset: x * 4, as: Float.self)))
        case .float64: return Self.cut(bytes.loadUnaligned(fromByteOffset: x * 8, as: Double.self))
        }
    }

    private static func cut(_ value: Double) -> UInt8 { value.isNaN ? 0 : UInt8(min(255, max(0, value))) }
}

/// Memory for one row of a file.
final class TIFFScanline {
    let bytes: UnsafeMutableRawBufferPointer

    init(count: Int) { bytes = .allocate(byteCount: count, alignment: 16) }

    deinit { bytes.deallocate() }
}
#endif
