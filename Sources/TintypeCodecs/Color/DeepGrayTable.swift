internal import CLCMS2

/// Converts gray pixels of 16 bits with a table, where LittleCMS would take many times as long, or interpolate between 49 grays.
struct DeepGrayTable {
    /// The colors of grays in steps of 1/4,096.
    private let colors: [SIMD4<Float>]

    private static let steps = 4_096

    /// - Parameter transform: A transform from gray, in the red of RGBA, to RGBA, both of 16 bits.
    init(_ transform: cmsHTRANSFORM) {
        let steps = Float(Self.steps)
        // One entry more than is reached, so that there is always a next.
        let grays = (0...Self.steps + 1).map { step in
            SIMD4(repeating: UInt16(min(65_535, (Float(step) * 65_535 / steps).rounded())))
        }
        var converted = grays
        cmsDoTransform(transform, grays, &converted, UInt32(grays.count))
        colors = converted.map { SIMD4<Float>($0) }
    }

    /// Converts straight or opaque RGBA in place; alpha stays.
    func convert(_ row: UnsafeMutablePointer<UInt16>, count: Int) {
        colors.withUnsafeBufferPointer { colors in
            for place in stride(from: 0, to: count * 4, by: 4) {
                let position = Float(row[place]) * (Float(Self.steps) / 65_535)
                let index = Int(position)
                let part = position - position.rounded(.down)
                let color = colors[index] + (colors[index + 1] - colors[index]) * part
                for component in 0..<3 { row[place + component] = UInt16(color[component] + 0.5) }
            }
        }
    }
}
