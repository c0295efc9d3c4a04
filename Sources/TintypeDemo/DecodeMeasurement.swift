internal import FoundationEssentials
internal import Glibc
internal import Tintype

/// The time to decode an image: the median of as many runs as fit into a time limit.
struct DecodeMeasurement {
    var format: String
    /// The upright size of the source.
    var source: PixelSize
    var output: PixelSize
    var frames: Int
    var bytes: Int
    var runs: Int
    /// The median processor time and the median wall time.
    var processor: Duration
    var wall: Duration

    static let warmUps = 3
    static let fewestRuns = 5

    init(_ data: Data, options: DecodeOptions, duration: Duration) throws(ImageError) {
        let context = ProcessingContext(isCancelled: { Task.isCancelled })
        let coders = ImageCoders.inProcess
        // The first run determines the properties of the image. The buffer of each run returns to the pool before the next run.
        var properties = try Self.properties(coders, data, options, context)
        for _ in 1..<Self.warmUps { properties = try Self.properties(coders, data, options, context) }
        var processorTimes: [Duration] = []
        var wallTimes: [Duration] = []
        let end = ContinuousClock.now + duration
        while ContinuousClock.now < end || wallTimes.count < Self.fewestRuns {
            let processorStart = Self.processorTime()
            let wallStart = ContinuousClock.now
            _ = try Self.properties(coders, data, options, context)
            wallTimes.append(ContinuousClock.now - wallStart)
            processorTimes.append(Self.processorTime() - processorStart)
        }
        format = properties.format
        source = properties.source
        output = properties.output
        frames = properties.frames
        bytes = data.count
        runs = wallTimes.count
        processor = Self.median(processorTimes)
        wall = Self.median(wallTimes)
    }

    /// The pixels of all frames of the source per second of wall time, in millions.
    var megapixelsPerSecond: Double {
        let seconds = wall.inSeconds
        return seconds > 0 ? Double(source.pixelCount) * Double(frames) / seconds / 1e6 : 0
    }

    private typealias Properties = (format: String, source: PixelSize, output: PixelSize, frames: Int)

    private static func properties(
        _ coders: ImageCoders, _ data: Data, _ options: DecodeOptions, _ context: ProcessingContext
    ) throws(ImageError) -> Properties {
        let image = try coders.decode(data, options: options, context: context)
        return (
            image.format?.rawValue ?? "", image.properties.sourceSize ?? image.size, image.size,
            image.animation?.frameCount ?? 1
        )
    }

    private static func processorTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    static func median(_ values: [Duration]) -> Duration {
        guard !values.isEmpty else { return .zero }
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}
