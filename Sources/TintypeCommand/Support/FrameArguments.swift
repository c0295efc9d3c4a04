internal import ArgumentParser
internal import Tintype

/// The arguments that choose frames of an animation, and change their order and speed.
struct FrameArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Keep only these frames of an animation, counted from 1, such as 10-20 or 5.", valueName: "first-last"))
    var frames: FrameRangeArgument?

    @Option(
        help: ArgumentHelp(
            "Play an animation faster, such as 2, or slower, such as 0.5. Frames of less than 20 ms are left out.",
            valueName: "factor"))
    var speed: Double?

    @Flag(help: "Reverse the order of the frames.")
    var reverse = false

    func validate() throws {
        if let speed, !(0.01...100).contains(speed) {
            throw ValidationError("--speed needs a number from 0.01 to 100, such as 2 or 0.5.")
        }
    }

    /// Returns an image with the frames that were asked for.
    /// - Throws: ``ImageError/Code/transformFailed`` if the image doesn't have them, or ``ImageError/Code/cancelled``.
    func applied(
        to image: Image, isCancelled: @escaping @Sendable () -> Bool
    ) throws(ImageError) -> Image {
        guard frames != nil || reverse || speed != nil else { return image }
        var chosen = try all(of: image, isCancelled)
        if let range = frames?.range {
            guard range.upperBound <= chosen.count else {
                throw ImageError(
                    .transformFailed, stage: .transform,
                    reason: "--frames \(range.lowerBound + 1)-\(range.upperBound): the image has \(chosen.count) frames"
                )
            }
            chosen = Array(chosen[range])
        }
        if reverse { chosen.reverse() }
        if let speed { chosen = Self.frames(chosen, at: speed) }
        return Image(frames: chosen, properties: image.properties) ?? image
    }

    /// The shortest time that programs show a frame for: shorter ones mean "as fast as possible" to them, and last longer.
    private static let shortestDuration = Duration.milliseconds(20)

    /// Returns the frames at another speed. At a higher one, frames are left out that would be seen for too short a time; two stay.
    private static func frames(_ frames: [ImageFrame], at speed: Double) -> [ImageFrame] {
        let total = frames.reduce(Duration.zero) { $0 + $1.duration } / speed
        let shortestDuration = min(Self.shortestDuration, total / 2)
        var result: [ImageFrame] = []
        for frame in frames {
            let duration = frame.duration / speed
            if speed > 1, let last = result.last, last.duration < shortestDuration {
                result[result.count - 1] = ImageFrame(pixels: last.pixels, duration: last.duration + duration)
            } else {
                result.append(ImageFrame(pixels: frame.pixels, duration: duration))
            }
        }
        if speed > 1, result.count > 2, let last = result.last, last.duration < shortestDuration {
            result.removeLast()
            let previous = result.removeLast()
            result.append(ImageFrame(pixels: previous.pixels, duration: previous.duration + last.duration))
        }
        return result
    }

    private func all(
        of image: Image, _ isCancelled: @escaping @Sendable () -> Bool
    ) throws(ImageError) -> [ImageFrame] {
        guard let animation = image.animation else { return [ImageFrame(pixels: image.pixels)] }
        try DecodeLimits().check(
            size: image.size, output: image.size, frameCount: animation.frameCount,
            bytesPerPixel: image.pixels.format.bytesPerPixel)
        var all: [ImageFrame] = []
        try animation.forEachFrame(isCancelled: isCancelled) { all.append($0) }
        return all
    }
}

/// A range of frames, counted from 1: `10-20`, or a single frame, `5`.
struct FrameRangeArgument: ExpressibleByArgument, Equatable, Sendable {
    /// The frames, counted from 0.
    let range: Range<Int>

    init?(argument: String) {
        let ends = argument.split(separator: "-", omittingEmptySubsequences: false)
        guard (1...2).contains(ends.count), ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let first = Int(ends[0]), let last = Int(ends[ends.count - 1]), first >= 1, last >= first
        else { return nil }
        range = first - 1..<last
    }
}
