/// The frames that a player, or a caller, wants decoded.
struct FrameDemand: Sendable {
    /// In the order of need, each once.
    var frames: [Int]
    var buffer: FrameBuffer
    /// True if time stands still: decoded frames stay, and no frame is decoded ahead.
    var isIdle = false

    /// The place of the first frame that is missing.
    func firstMissing(_ isMissing: (Int) -> Bool) -> Int? { frames.firstIndex(where: isMissing) }

    /// True if the frame at a place is shown after its successor in the file, or before its predecessor.
    func goesBack(at place: Int) -> Bool {
        let frame = frames[place]
        if place + 1 < frames.count { return frames[place + 1] == frame - 1 }
        return place > 0 && frames[place - 1] == frame + 1
    }

    /// Returns the frame to decode for the sake of a missing frame.
    ///
    /// Frames that are shown backward are decoded in segments, forward. A segment starts once all of it is wanted, because to start
    /// costs a seek.
    /// - Parameters:
    ///   - place: the place of the missing frame.
    ///   - isUrgent: true if the frame is due now or next.
    /// - Returns: the frame, and the place of the frame of its segment that is needed last; `nil` to wait.
    func frameToDecode(
        forMissing place: Int, isUrgent: Bool, _ isMissing: (Int) -> Bool
    ) -> (frame: Int, lastPlace: Int)? {
        let frame = frames[place]
        if buffer.keepsAll, goesBack(at: place) {
            // All frames before it have to be decoded, and are needed, too.
            return (0...frame).first(where: isMissing).map { ($0, place) }
        }
        guard let segment = buffer.segment, goesBack(at: place) else { return (frame, place) }
        let low = frame / segment * segment
        let wanted = Set(frames)
        guard isUrgent || wanted.isSuperset(of: low...frame) else { return nil }
        // Unwanted frames would be released at once.
        return (low...frame).first { wanted.contains($0) && isMissing($0) }
            .map { ($0, frames.firstIndex(of: low) ?? place) }
    }
}
