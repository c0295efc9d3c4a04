internal import CKernels
internal import Glibc

/// The components of pixels, and their weights, in the numbers that ``DirectGaussian`` calculates with.
protocol GaussianNumber: BitwiseCopyable, ExpressibleByIntegerLiteral {
    /// The standard deviations that the filter reaches to either side.
    static var reach: Double { get }
    /// Returns the weights at the center and to either side, rounded. The exact weights of both sides add up to 1.
    static func weights(_ exact: [Double]) -> [Self]
    static func read(
        _ row: UnsafeRawPointer, to components: UnsafeMutablePointer<Self>, pixels: Int, format: PixelFormat,
        isLinear: Bool)
    static func write(
        _ components: UnsafeMutablePointer<Self>, to row: UnsafeMutableRawPointer, pixels: Int, format: PixelFormat,
        isLinear: Bool)
    /// The kernel that applies the weights to a number of components that is a multiple of 64.
    static var filter: GaussianFilter<Self> { get }
}

typealias GaussianFilter<Number> = (
    _ sums: UnsafeMutablePointer<Number>?, _ center: UnsafePointer<Number>?,
    _ before: UnsafePointer<UnsafePointer<Number>?>?, _ after: UnsafePointer<UnsafePointer<Number>?>?,
    _ weights: UnsafePointer<Number>?, _ taps: Int, _ count: Int
) -> Void

extension Float: GaussianNumber {
    static var reach: Double { 3.5 }

    static func weights(_ exact: [Double]) -> [Float] { exact.map { Float($0) } }

    static func read(
        _ row: UnsafeRawPointer, to components: UnsafeMutablePointer<Float>, pixels: Int, format: PixelFormat,
        isLinear: Bool
    ) {
        ComponentRow.unpack(row, to: components, pixels: pixels, format: format)
        if isLinear { LinearLight.decode(ComponentRow.pixels(components, pixels)) }
    }

    static func write(
        _ components: UnsafeMutablePointer<Float>, to row: UnsafeMutableRawPointer, pixels: Int, format: PixelFormat,
        isLinear: Bool
    ) {
        if isLinear { LinearLight.encode(ComponentRow.pixels(components, pixels)) }
        ComponentRow.pack(components, to: row, pixels: pixels, format: format)
    }

    static var filter: GaussianFilter<Float> { ComponentRow.kernels.filter }
}

/// Fixed-point numbers with 7 bits behind the point, for 8-bit pixels that aren't blurred in linear light. A vector holds twice as many as of
/// `Float`, and they need no conversion.
extension UInt16: GaussianNumber {
    // What lies farther out is about half a level of 8 bits in each direction.
    static var reach: Double { 3 }

    static func weights(_ exact: [Double]) -> [UInt16] {
        let sides = exact.dropFirst().map { UInt16(($0 * 65_536).rounded()) }
        // A weight of 1 doesn't fit, and leaves pixels without neighbors as they are after rounding.
        let center = Swift.min(65_535, 65_536 - 2 * sides.reduce(0) { $0 + Int($1) })
        return [UInt16(center)] + sides
    }

    static func read(
        _ row: UnsafeRawPointer, to components: UnsafeMutablePointer<UInt16>, pixels: Int, format: PixelFormat,
        isLinear: Bool
    ) {
        ComponentRow.kernels.read8_fixed(components, row.assumingMemoryBound(to: UInt8.self), pixels)
    }

    static func write(
        _ components: UnsafeMutablePointer<UInt16>, to row: UnsafeMutableRawPointer, pixels: Int, format: PixelFormat,
        isLinear: Bool
    ) {
        ComponentRow.kernels.write8_fixed(row.assumingMemoryBound(to: UInt8.self), components, pixels)
    }

    static var filter: GaussianFilter<UInt16> { ComponentRow.kernels.filter_fixed }
}

/// Blurs pixels with the weights of a Gaussian, tile by tile: first the rows, which a ring keeps, then the columns.
///
/// - Complexity: O(pixels × deviation).
struct DirectGaussian<Number: GaussianNumber> {
    let sigma: Double
    /// True to blur light instead of encoded components, with `Float` only.
    var isLinear = false

    func blurred(
        _ source: PixelBuffer, format: PixelFormat, _ context: ProcessingContext
    ) throws(ImageError) -> PixelBuffer {
        let target = try context.buffer(source.size, format: format)
        let radius = Int((Number.reach * sigma).rounded(.up))
        let weights = weights(radius: radius)
        // The rows of a tile stay in the second-level cache.
        let tile = min(512, (source.width + 15) / 16 * 16)
        // Rows at a distance of a power of two would compete for the same places of the first-level cache.
        let rowNumbers = (tile + 16) * 4
        let rows = 2 * radius + 1
        let count = (tile + 2 * radius) * 4 + (rows + 1) * rowNumbers
        let scratch = try context.scratch(floats: count * MemoryLayout<Number>.stride / 4)
        let padded = scratch.base.bindMemory(to: Number.self, capacity: count)
        let ring = padded + (tile + 2 * radius) * 4
        let sums = ring + rows * rowNumbers
        // A filter's last vector reads up to 15 pixels after the row.
        padded.initialize(repeating: 0, count: count)
        let filter = Number.filter
        var before = [UnsafePointer<Number>?](repeating: nil, count: radius)
        var after = before
        for left in stride(from: 0, to: source.width, by: tile) {
            let count = min(tile, source.width - left)
            let filtered = (count + 15) / 16 * 64
            var nextRow = 0
            for y in 0..<source.height {
                try context.checkCancellation(row: y)
                while nextRow <= min(source.height - 1, y + radius) {
                    fill(padded, from: source, y: nextRow, left: left, count: count, radius: radius)
                    let center = padded + radius * 4
                    for tap in 1...radius {
                        before[tap - 1] = UnsafePointer(center - tap * 4)
                        after[tap - 1] = UnsafePointer(center + tap * 4)
                    }
                    filter(ring + nextRow % rows * rowNumbers, center, before, after, weights, radius, filtered)
                    nextRow += 1
                }
                for tap in 1...radius {
                    before[tap - 1] = UnsafePointer(ring + max(0, y - tap) % rows * rowNumbers)
                    after[tap - 1] = UnsafePointer(ring + min(source.height - 1, y + tap) % rows * rowNumbers)
                }
                filter(sums, ring + y % rows * rowNumbers, before, after, weights, radius, filtered)
                Number.write(
                    sums, to: target.row(y) + left * format.bytesPerPixel, pixels: count, format: format,
                    isLinear: isLinear)
            }
        }
        return target.freeze()
    }

    /// Reads the pixels of a tile's row, and `radius` pixels on each side.
    private func fill(
        _ padded: UnsafeMutablePointer<Number>, from source: PixelBuffer, y: Int, left: Int, count: Int, radius: Int
    ) {
        let first = max(0, left - radius)
        let end = min(source.width, left + count + radius)
        let missing = first - (left - radius)
        source.withRow(y) { row in
            guard let base = row.baseAddress else { return }
            Number.read(
                base + first * source.format.bytesPerPixel, to: padded + missing * 4, pixels: end - first,
                format: source.format, isLinear: isLinear)
        }
        func repeatPixel(_ pixel: Int, at places: Range<Int>) {
            for place in places { (padded + place * 4).update(from: padded + pixel * 4, count: 4) }
        }
        repeatPixel(missing, at: 0..<missing)
        let last = missing + end - first - 1
        repeatPixel(last, at: last + 1..<max(last + 1, count + 2 * radius))
    }

    private func weights(radius: Int) -> [Number] {
        let values = (0...radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = values[0] + 2 * values.dropFirst().reduce(0, +)
        return Number.weights(values.map { $0 / sum })
    }
}
