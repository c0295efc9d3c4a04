#if TIFF
/// Reads a sample of each pixel of a row.
struct TIFFSamples {
    /// The row; two bytes behind it may be read, too.
    let row: UnsafeRawPointer
    /// The index of the sample in the first pixel, and the number of samples from there to the next pixel.
    let first: Int
    let step: Int
    let count: Int

    /// Writes the samples in 8 bits to every fourth byte.
    func copy(_ sample: TIFFLayout.Sample, _ range: TIFFSampleRange, to target: UnsafeMutablePointer<UInt8>) {
        switch sample {
        case .uint(8): each(UInt8.self, to: target) { $0 }
        case .uint(16): each(UInt16.self, to: target) { UInt8((UInt32($0) + 128) / 257) }
        case .uint(let bits):
            let most = UInt32(1) << UInt32(bits) - 1
            eachPacked(bits, to: target) { UInt8(truncatingIfNeeded: ($0 * 255 + most / 2) / most) }
        default: eachNumber(sample, to: target, range.levels(255)) { UInt8($0) }
        }
    }

    /// Writes the samples in 16 bits to every fourth word.
    func copy(_ sample: TIFFLayout.Sample, _ range: TIFFSampleRange, to target: UnsafeMutablePointer<UInt16>) {
        switch sample {
        case .uint(8): each(UInt8.self, to: target) { UInt16($0) * 257 }
        case .uint(16): each(UInt16.self, to: target) { $0 }
        case .uint(let bits):
            let most = UInt32(1) << UInt32(bits) - 1
            eachPacked(bits, to: target) { UInt16(truncatingIfNeeded: ($0 * 65_535 + most / 2) / most) }
        default: eachNumber(sample, to: target, range.levels(65_535)) { UInt16($0) }
        }
    }

    /// Writes the numbers of samples that are indices, one after the other.
    func copyIndices(_ sample: TIFFLayout.Sample, to target: UnsafeMutablePointer<UInt16>) {
        switch sample {
        case .uint(8): each(UInt8.self, to: target, spacing: 1) { UInt16($0) }
        case .uint(16): each(UInt16.self, to: target, spacing: 1) { $0 }
        case .uint(let bits): eachPacked(bits, to: target, spacing: 1) { UInt16(truncatingIfNeeded: $0) }
        // No palette has them.
        default: break
        }
    }

    /// Writes a component of L*a*b* to every third number.
    func copy(
        _ sample: TIFFLayout.Sample, _ encoding: LabEncoding, component: Int, to target: UnsafeMutablePointer<Float>
    ) {
        // Far beyond all colors, and far from where sums overflow.
        func sane(_ value: Float) -> Float { value.isNaN ? 0 : min(max(value, -1_000), 1_000) }
        let target = target + component
        switch sample {
        case .uint(8): each(UInt8.self, to: target, spacing: 3) { encoding.value($0, component: component) }
        case .uint: each(UInt16.self, to: target, spacing: 3) { encoding.value($0, component: component) }
        case .float32: each(Float.self, to: target, spacing: 3) { sane($0) }
        case .float64: each(Double.self, to: target, spacing: 3) { sane(Float($0)) }
        // No layout has them.
        case .uint32, .int32, .float16: break
        }
    }

    /// The largest of the numbers in floating point that are finite; 0 for none.
    func maximum(_ sample: TIFFLayout.Sample) -> Double {
        var largest = 0.0
        func note(_ number: Double) { if number.isFinite, number > largest { largest = number } }
        for x in 0..<count {
            let place = first + x * step
            switch sample {
            case .float16:
                note(Double(Float16(bitPattern: row.loadUnaligned(fromByteOffset: place * 2, as: UInt16.self))))
            case .float32: note(Double(row.loadUnaligned(fromByteOffset: place * 4, as: Float.self)))
            case .float64: note(row.loadUnaligned(fromByteOffset: place * 8, as: Double.self))
            default: return 0
            }
        }
        return largest
    }

    @inline(__always)
    private func each<Value: BitwiseCopyable, Level>(
        _ type: Value.Type, to target: UnsafeMutablePointer<Level>, spacing: Int = 4, _ level: (Value) -> Level
    ) {
        var address = row + first * MemoryLayout<Value>.size
        for x in 0..<count {
            target[x * spacing] = level(address.loadUnaligned(as: Value.self))
            address += step * MemoryLayout<Value>.size
        }
    }

    /// Writes the levels of numbers of 32 bits, or of floating point.
    @inline(__always)
    private func eachNumber<Level>(
        _ sample: TIFFLayout.Sample, to target: UnsafeMutablePointer<Level>, _ levels: TIFFSampleRange.Levels,
        _ level: (Double) -> Level
    ) {
        switch sample {
        case .uint: break
        case .uint32: each(UInt32.self, to: target) { level(levels[Double($0)]) }
        case .int32: each(Int32.self, to: target) { level(levels[Double($0)]) }
        case .float16: each(UInt16.self, to: target) { level(levels[Double(Float16(bitPattern: $0))]) }
        case .float32: each(Float.self, to: target) { level(levels[Double($0)]) }
        case .float64: each(Double.self, to: target) { level(levels[$0]) }
        }
    }

    /// Writes the levels of numbers of up to 15 bits, each of which lies in at most three bytes.
    @inline(__always)
    private func eachPacked<Level>(
        _ bits: Int, to target: UnsafeMutablePointer<Level>, spacing: Int = 4, _ level: (UInt32) -> Level
    ) {
        let bytes = row.assumingMemoryBound(to: UInt8.self)
        let mask = UInt32(1) << UInt32(bits) - 1
        var place = first * bits
        for x in 0..<count {
            let byte = place >> 3
            let word = UInt32(bytes[byte]) << 16 | UInt32(bytes[byte + 1]) << 8 | UInt32(bytes[byte + 2])
            target[x * spacing] = level(word >> UInt32(24 - bits - (place & 7)) & mask)
            place += step * bits
        }
    }
}
#endif
