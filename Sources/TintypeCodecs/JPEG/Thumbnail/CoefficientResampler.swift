internal import CKernels
internal import TintypeImages

/// Makes a thumbnail of coefficients, as they are decoded, without a picture in between: see `CCoefficients.h`.
///
/// Rows of blocks are summed vertically, four rows of the target at a time, then horizontally.
struct CoefficientResampler: ~Copyable {
    private let frame: ThumbnailFrame
    private let target: PixelSize
    private let kernels: ccoefficients_kernels
    private let planes: [Plane]
    /// The blocks that are still needed, of all components.
    private var rows: MutablePixelBuffer
    /// Four rows of sums of a component.
    private let sums: MutablePixelBuffer
    /// Four rows of each component, at the width of the target. The colors of gray stay zero.
    private let lines: MutablePixelBuffer
    private let result: MutablePixelBuffer

    private var predictions: [Int32] = [0, 0, 0]
    /// By component, 32 in the order of its blocks: see `CCoefficients.h`.
    private let quantizers: [Int16]
    private let formats: [BlockFormat]
    private let sizes: [UInt8]
    private let recordSize: Int
    private let blockComponents: [UInt8]
    private let blockSteps: [Int32]
    /// The next MCU.
    private var column = 0
    private var row = 0
    /// The next row of the target.
    private var nextRow = 0

    /// A component.
    private struct Plane {
        let vertical: [CoefficientAxis.Blocks]
        let verticalWeights: [Int16]
        let spans: [ccoefficients_span]
        let horizontalWeights: [Float]
        /// The numbers of a row of blocks.
        let stride: Int
        /// The rows of blocks that are kept, and where the first is.
        let capacity: Int
        let offset: Int

        /// Returns the place of a row of blocks, in numbers.
        func place(_ row: Int) -> Int { offset + row % capacity * stride }
    }

    /// The kernels for this processor's instruction sets, best first.
    static let kernels: [ccoefficients_kernels] = {
        var kernels = [ccoefficients_kernels](repeating: ccoefficients_kernels(), count: 3)
        let count = ccoefficients_available(&kernels)
        return Array(kernels.prefix(Int(count)))
    }()

    /// The rows of the target that are made at once.
    private static let group = 4

    /// - Parameters:
    ///   - last: the last coefficient that is needed of each component, in zigzag order: 5, or more.
    ///   - target: the size of the result.
    ///   - keepsAll: true if scans bring the coefficients piece by piece, so that all rows of blocks are needed, and zero at first.
    init(
        _ frame: ThumbnailFrame, last: [Int], target: PixelSize, keepsAll: Bool = false, pool: PixelBufferPool,
        kernels: ccoefficients_kernels = Self.kernels[0]
    ) throws(ImageError) {
        let planes = Self.planes(frame, last.map(BlockFormat.init), target: target, keepsAll: keepsAll)
        let numbers = planes.reduce(0) { $0 + $1.stride * $1.capacity }
        let rows = try MutablePixelBuffer(size: PixelSize(width: numbers / 2, height: 1), cleared: keepsAll, pool: pool)
        let longest = planes.reduce(0) { max($0, $1.stride) }
        let sums = try MutablePixelBuffer(
            size: PixelSize(width: longest / 2, height: Self.group), cleared: false, pool: pool)
        let lines = try MutablePixelBuffer(size: PixelSize(width: (target.width + 3) / 4 * 16, height: 3), pool: pool)
        let result = try MutablePixelBuffer(size: target, cleared: false, pool: pool)
        (self.frame, self.target, self.kernels, self.planes) = (frame, target, kernels, planes)
        self.rows = rows
        self.sums = sums
        self.lines = lines
        self.result = result
        var quantizers: [Int16] = []
        for (component, last) in zip(frame.components, last) {
            let order = BlockFormat(last: last).order
            for k in order + repeatElement(-1, count: 32 - order.count) {
                quantizers.append(k < 0 || k > last ? 0 : Int16(component.quantizer[k]))
            }
        }
        self.quantizers = quantizers
        formats = last.map(BlockFormat.init)
        sizes = formats.map { UInt8($0.rawValue) }
        recordSize = BlockFormat.recordSize(last: last)
        blockComponents = frame.blocks.map { UInt8($0.component) }
        blockSteps = frame.blocks.map {
            Int32(frame.components[$0.component].horizontal * BlockFormat(last: last[$0.component]).rawValue)
        }
    }

    /// The most memory for rows of blocks. More than 16 MB isn't worth it where not all are needed: the reduction is so large that libjpeg's
    /// smallest picture serves as well. The kernels count numbers in 32 bits, of which padding takes some.
    static func mostBlockBytes(keepsAll: Bool) -> Int { keepsAll ? 3 << 30 : 16 << 20 }

    /// The memory for rows of blocks, about, with the parameters of the initializer.
    static func blockBytes(_ frame: ThumbnailFrame, last: [Int], target: PixelSize, keepsAll: Bool) -> Int {
        // The filter has six times the reduction, and the rows of a group lie three times that apart.
        let rows = (9 * frame.size.height / (8 * target.height) + 8) / frame.vertical + 2
        let bytes = frame.blocks.reduce(0) { $0 + 2 * BlockFormat(last: last[$1.component]).rawValue }
        return (keepsAll ? frame.mcus.height : rows) * frame.mcus.width * bytes
    }

    /// The memory for the weights, in bytes, at most.
    static func weightBytes(_ frame: ThumbnailFrame, target: PixelSize) -> Int {
        let across = CoefficientAxis.bytes(source: frame.size.width, target: target.width)
        let down = CoefficientAxis.bytes(source: frame.size.height, target: target.height)
        return frame.components.count * (across + down)
    }

    private static func planes(
        _ frame: ThumbnailFrame, _ formats: [BlockFormat], target: PixelSize, keepsAll: Bool
    ) -> [Plane] {
        func axes(_ source: Int, _ target: Int, isHalved: (ThumbnailFrame.Component) -> Bool) -> [CoefficientAxis] {
            // The last component often has the weights of the previous component.
            var axes: [CoefficientAxis] = []
            let places = zip(frame.components, formats).map { component, format in
                let isHalved = isHalved(component)
                if let place = axes.firstIndex(where: { $0.isHalved == isHalved && $0.format == format }) {
                    return place
                }
                axes.append(CoefficientAxis(pixels: source, isHalved: isHalved, format: format))
                return axes.count - 1
            }
            CoefficientAxis.calculate(&axes, source: source, target: target)
            return places.map { axes[$0] }
        }
        let (horizontal, vertical) = (frame.horizontal, frame.vertical)
        let across = axes(frame.size.width, target.width) { $0.horizontal < horizontal }
        let down = axes(frame.size.height, target.height) { $0.vertical < vertical }
        var offset = 0
        return zip(frame.components.indices, frame.components).map { index, component in
            let blocks = down[index].blocks
            // All rows of blocks of a group, up to the end of their MCUs.
            var capacity = keepsAll ? frame.mcus.height * component.vertical : 0
            for first in stride(from: 0, to: blocks.count, by: group) {
                let end = blocks[min(first + group, blocks.count) - 1].end
                capacity = max(capacity, end + 2 * component.vertical - blocks[first].first)
            }
            // A block more than there is may be read, and is not weighed; rows are whole vectors.
            let numbers = (frame.mcus.width * component.horizontal + 1) * formats[index].rawValue
            let (spans, weights) = across[index].horizontalWeights
            let plane = Plane(
                vertical: blocks, verticalWeights: down[index].verticalWeights, spans: spans,
                horizontalWeights: weights, stride: (numbers + 31) / 32 * 32, capacity: capacity, offset: offset)
            offset += plane.stride * capacity
            return plane
        }
    }

    /// Adds the MCUs of a stream's records.
    mutating func add(_ lane: ScanLane, _ records: borrowing MutablePixelBuffer) throws(NotForThumbnails) {
        // Each stream then has an interval.
        if frame.restartInterval > 0 { predictions = [0, 0, 0] }
        let blocks = frame.blocks.count
        precondition(lane.top - lane.mcus * blocks * recordSize >= lane.low && lane.top <= records.byteCount)
        var done = 0
        var usedLarge = 0
        while done < lane.mcus {
            guard row < frame.mcus.height else { throw NotForThumbnails() }
            let count = min(lane.mcus - done, frame.mcus.width - column)
            var offsets: [Int32] = []
            for block in frame.blocks {
                let component = frame.components[block.component]
                let first = place(
                    row * component.vertical + block.row, column * component.horizontal + block.column,
                    of: block.component)
                offsets.append(Int32(first.place / 2))
            }
            usedLarge = kernels.place(
                rows.row(0), records.row(0), lane.top - done * blocks * recordSize, recordSize, count, blocks,
                blockComponents, offsets, blockSteps, quantizers, sizes, &predictions, done * blocks, lane.large,
                usedLarge, lane.large.count)
            // Such a product is far beyond the values of a picture.
            guard usedLarge >= 0 else { throw NotForThumbnails() }
            done += count
            column += count
            if column == frame.mcus.width {
                column = 0
                row += 1
                makeRows()
            }
        }
    }

    // MARK: Progressive files

    var blockBytes: Int { rows.byteCount }

    /// Lends the coefficients.
    mutating func withBlocks(
        _ body: (inout MutableRawSpan) throws(NotForThumbnails) -> Void
    ) throws(NotForThumbnails) { try rows.withMutableBytes(body) }

    /// The place of a block, and the distance to the next, in bytes.
    func place(_ row: Int, _ column: Int, of component: Int) -> (place: Int, step: Int) {
        let step = 2 * formats[component].rawValue
        return (2 * planes[component].place(row) + column * step, step)
    }

    /// The places of coefficients in their block in bytes, by position in zigzag order. Blocks without a record share a place that isn't
    /// used.
    func places(of component: Int) -> [Int] {
        let order = formats[component].order
        return (0..<64).map { 2 * (order.firstIndex(of: $0) ?? order.firstIndex(of: -1) ?? 0) }
    }

    /// Makes the thumbnail, after all coefficients have been stored.
    mutating func addAll(_ context: ProcessingContext) throws(NotForThumbnails) {
        while row < frame.mcus.height {
            try NotForThumbnails.checkCancellation(context)
            for (index, component) in frame.components.enumerated() {
                for line in 0..<component.vertical {
                    let place = planes[index].place(row * component.vertical + line)
                    guard
                        kernels.multiply(
                            rows.row(0), place, planes[index].stride / 32, quantizers, index * 32,
                            formats[index].rawValue) == 0
                    else { throw NotForThumbnails() }
                }
            }
            row += 1
            makeRows()
        }
    }

    // MARK: Rows

    /// Makes all rows of the target whose blocks are there.
    private mutating func makeRows() {
        while nextRow < target.height {
            let count = min(Self.group, target.height - nextRow)
            for (plane, component) in zip(planes, frame.components)
            where plane.vertical[nextRow + count - 1].end > row * component.vertical { return }
            for (index, plane) in planes.enumerated() {
                for line in 0..<Self.group {
                    // A group that isn't full repeats its last row.
                    let blocks = plane.vertical[nextRow + min(line, count - 1)]
                    let offsets = (blocks.first..<blocks.end).map { Int32(plane.place($0)) }
                    kernels.sum_rows(
                        sums.row(line), rows.row(0), offsets, plane.verticalWeights, formats[index].weights,
                        blocks.weights, blocks.count, plane.stride / 32)
                }
                kernels.sum_columns(
                    lines.row(index), sums.row(0), sums.bytesPerRow / 4, plane.spans, plane.horizontalWeights,
                    target.width)
            }
            kernels.color(
                result.row(nextRow), result.bytesPerRow, count, lines.row(0), lines.row(1), lines.row(2),
                (target.width + 3) / 4 * 4)
            nextRow += count
        }
    }

    /// Returns the thumbnail, after all MCUs have been added.
    consuming func finish() -> PixelBuffer {
        precondition(nextRow == target.height, "\(nextRow) of \(target.height) rows have been made")
        return result.freeze()
    }
}
