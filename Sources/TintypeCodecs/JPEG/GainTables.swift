internal import Glibc
internal import TintypeImages

extension GainMapParameters {
    /// The part of the gain that a display applies, from 0 to 1 (ISO 21496-1, clause 6.3).
    /// - Parameter headroom: the headroom of the display; `nil` for the whole gain. NaN counts as no gain.
    func weight(headroom: Double?) -> Double {
        guard let headroom else { return 1 }
        let part = (headroom - baseHeadroom) / (alternateHeadroom - baseHeadroom)
        return part > 0 ? min(part, 1) : 0
    }
}

/// Multiplies rows of an image with the gain of a map.
struct GainTables {
    /// The factor for each value of the map, for red, green, and blue.
    private let gains: [[Float]]
    private let baseOffset: SIMD4<Float>
    private let alternateOffset: SIMD4<Float>
    /// The light of each value of an image, of 8 and of 16 bits.
    private static let light = (0...255).map { SRGBCurve.light.value(Float($0) / 255) }
    private static let deepLight = (0...65_535).map { SRGBCurve.light.value(Float($0) / 65_535) }

    init(_ parameters: GainMapParameters, weight: Double) {
        let channels = (0..<3).map { parameters.channels[min($0, parameters.channels.count - 1)] }
        gains = channels.map { channel in
            (0...255).map { value in
                let share = pow(Double(value) / 255, 1 / channel.gamma)
                let logarithm = channel.minimum * (1 - share) + channel.maximum * share
                // Beyond any display, but finite.
                return Float(exp2(min(max(logarithm * weight, -64), 64)))
            }
        }
        func offsets(_ offset: (GainMapParameters.Channel) -> Double) -> SIMD4<Float> {
            let numbers = channels.map { Float(min(max(offset($0), -1_000), 1_000)) }
            return SIMD4(numbers[0], numbers[1], numbers[2], 0)
        }
        // Without any gain, the image is unchanged.
        baseOffset = weight > 0 ? offsets(\.baseOffset) : .zero
        alternateOffset = weight > 0 ? offsets(\.alternateOffset) : .zero
    }

    /// Converts a row of opaque pixels to half precision.
    /// - Parameter format: 8 or 16 bits.
    func apply(
        _ map: UnsafeRawBufferPointer, to base: UnsafeRawBufferPointer, _ format: PixelFormat,
        _ row: UnsafeMutableRawPointer
    ) {
        if format == .rgba8 {
            apply(map, to: base.bindMemory(to: UInt8.self), Self.light, row)
        } else {
            apply(map, to: base.bindMemory(to: UInt16.self), Self.deepLight, row)
        }
    }

    private func apply<Number: FixedWidthInteger>(
        _ map: UnsafeRawBufferPointer, to base: UnsafeBufferPointer<Number>, _ lights: [Float],
        _ row: UnsafeMutableRawPointer
    ) {
        let count = base.count / 4
        let encode = SRGBCurve.encode
        withUnsafeTemporaryAllocation(of: Float.self, capacity: count * 4) { floats in
            for place in stride(from: 0, to: count * 4, by: 4) {
                for component in 0..<3 {
                    let light = lights[Int(base[place + component])] + baseOffset[component]
                    let bright = light * gains[component][Int(map[place + component])] - alternateOffset[component]
                    floats[place + component] = encode.mirrored(bright)
                }
                floats[place + 3] = 1
            }
            if let start = floats.baseAddress { HalfFloat.pack(start, to: row, pixels: count) }
        }
    }
}
