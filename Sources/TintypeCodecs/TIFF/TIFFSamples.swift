#if TIFF
/// Reads a sample of each pixel of a row.
struct TIFFSamples {
    let row: UnsafeRawPointer
    /// The index of the sample in the first pixel, and the number of samples from there to the next pixel.
    let first: Int
    let step: Int
    let count: Int

    /// Writes the samples in 8 bits to every fourth byte.
    func copy(_ sample: TIFFLayout.Sample, _ range: TIFFSampleRange, to target: UnsafeMutablePointer<UInt8>) {
        switch sample {
        case .uint8: each(UInt8.self, to: target) { $0 }
        case .uint12: each12(to: target) { UInt8(($0 * 255 + 2_047) / 4_095) }
        case .uint16: each(UInt16.self, to: target) { UInt8((UInt32($0) + 128) / 257) }
        default: eachNumber(sample, to: target, range.levels(255)) { UInt8($0) }
        }
    }

    /// Writes the samples in 16 bits to every fourth word.
    func copy(_ sample: TIFFLayout.Sample, _ range: TIFFSampleRange, to target: UnsafeMutablePointer<UInt16>) {
        switch sample {
        case .uint8: each(UInt8.self, to: target) { UInt16($0) * 257 }
        case .uint12: each12(to: target) { UInt16(($0 * 65_535 + 2_047) / 4_095) }
        case .uint16: each(UInt16.self, to: target) { $0 }
        default: eachNumber(sample, to: target, range.levels(65_535)) { UInt16($0) }
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
        case .uint8: each(UInt8.self, to: target, spacing: 3) { encoding.value($0, component: component) }
        case .uint16: each(UInt16.self, to: target, spacing: 3) { encoding.value($0, component: component) }
        case .float32: each(Float.self, to: target, spacing: 3) { sane($0) }
        case .float64: each(Double.self, to: target, spacing: 3) { sane(Float($0)) }
        // No layout has them.
        case .uint12, .uint32, .int32, .float16: break
        }
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
        case .uint8, .uint12, .uint16: break
        case .uint32: each(UInt32.self, to: target) { level(levels[Double($0)]) }
        case .int32: each(Int32.self, to: target) { level(levels[Double($0)]) }
        case .float16: each(UInt16.self, to: target) { level(levels[Double(Float16(bitPattern: $0))]) }
        case .float32: each(Float.self, to: target) { level(levels[Double($0)]) }
        case .float64: each(Double.self, to: target) { level(levels[$0]) }
        }
    }

    /// Two numbers of 12 bits lie in three bytes, the high bits first.
    @inline(__always)
    private func each12<Level>(to target: UnsafeMutablePointer<Level>, _ level: (Int) -> Level) {
        for x in 0..<count {
            let pair = row + x / 2 * 3
            let middle = Int(pair.load(fromByteOffset: 1, as: UInt8.self))
            target[x * 4] = level(
                x % 2 == 0
                    ? Int(pair.load(as: UInt8.self)) << 4 | middle >> 4
                    : (middle & 15) << 8 | Int(pair.load(fromByteOffset: 2, as: UInt8.self)))
        }
    }
}
#endif
