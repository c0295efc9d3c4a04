import Foundation
import Tintype

/// The ways to go through all frames that are compared.
enum Playback: String, CaseIterable {
    /// The decoder alone, each frame once, at the same times as a player that plays forward.
    case decoder
    case normal, reverse, bounce

    var mode: PlaybackMode? {
        switch self {
        case .decoder: nil
        case .normal: .normal
        case .reverse: .reverse
        case .bounce: .bounce
        }
    }

    /// Shows all frames of one pass.
    /// - Parameter rate: the speed. As fast as possible, frames would be released and decoded in bursts, which playback doesn't do.
    func run(_ data: Data, rate: Double) async throws {
        guard let mode else {
            let decoder = try ImageCoders.default.frameDecoder(
                for: data, options: DecodeOptions(), context: ProcessingContext())
            // Kept until the next one is there, as on a screen.
            var shown: ImageFrame?
            let clock = ContinuousClock()
            var due = clock.now
            while let frame = try decoder?.nextFrame() {
                shown = frame
                due = max(due + frame.duration / rate, clock.now)
                try await clock.sleep(until: due)
            }
            withExtendedLifetime(shown) {}
            return
        }
        guard let animation = try ImageCoders.default.decode(data).animation else { return }
        let player = AnimatedImagePlayer(animation, mode: mode)
        player.loopCount = 1
        player.rate = rate
        var shown = 0
        for await _ in player.frames { shown += 1 }
        // The turning modes end with the frame that they began with.
        let expected = mode == .normal || mode == .reverse ? animation.frameCount : 2 * animation.frameCount - 1
        guard shown == expected else { fail("\(shown) frames were shown, not \(expected)") }
    }
}

/// Ends the program: a benchmark that failed measures nothing.
func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
}
