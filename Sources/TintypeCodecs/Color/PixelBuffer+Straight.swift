internal import TintypeImages

extension PixelBuffer {
    /// The pixels with color no longer multiplied by alpha, in rows without gaps.
    var straightPixels: [UInt8] {
        let rowBytes = width * 4
        return [UInt8](unsafeUninitializedCapacity: rowBytes * height) { bytes, count in
            count = rowBytes * height
            guard let base = UnsafeMutableRawPointer(bytes.baseAddress) else { return }
            for y in 0..<height {
                withRow(y) { row in
                    guard let source = row.baseAddress else { return }
                    Premultiplication.unpremultiply(source, into: base + y * rowBytes, count: width)
                }
            }
        }
    }

    /// The pixels of a deep buffer as straight RGBA of 16 bits, in rows without gaps; half-precision pixels become PQ with the primaries
    /// of BT.2020.
    var straightDeepPixels: [UInt16] {
        let rowCount = width * 4
        return [UInt16](unsafeUninitializedCapacity: rowCount * height) { words, count in
            count = rowCount * height
            guard let base = words.baseAddress else { return }
            for y in 0..<height { writeStraightDeepRow(y, to: base + y * rowCount) }
        }
    }

    /// A row of ``straightDeepPixels``.
    func writeStraightDeepRow(_ y: Int, to row: UnsafeMutablePointer<UInt16>) {
        withRow(y) { bytes in
            guard let source = bytes.baseAddress else { return }
            switch format {
            case .rgba8: return
            case .rgba16:
                Premultiplication.unpremultiply16(
                    source.assumingMemoryBound(to: UInt16.self), into: row, count: width)
            case .rgbaFloat16: ExtendedPixels.convertToPQ(source, to: row, count: width)
            }
        }
    }
}
