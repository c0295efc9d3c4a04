package import FoundationEssentials

extension AnimatedImage {
    /// The part of an animation that is known.
    struct Contents: Sendable {
        var data: Data
        var info: ImageInfo
        /// The duration of each frame.
        var frameDurations: [Duration]
        /// True if more bytes are expected.
        var isArriving = false
        /// The reason for which bytes are missing that are no longer expected.
        var interruption: ImageError?
        /// Called after a change, not under a lock.
        var observers: [Int: @Sendable () -> Void] = [:]
        var lastObserver = 0

        var isWhole: Bool { !isArriving && interruption == nil }

        init(_ data: Data, _ info: ImageInfo, firstFrameOnly: Bool) {
            self.data = data
            self.info = info
            frameDurations = Self.durations(of: info, firstFrameOnly: firstFrameOnly)
        }

        static func durations(of info: ImageInfo, firstFrameOnly: Bool = false) -> [Duration] {
            let count = firstFrameOnly ? 1 : max(1, info.frameCount)
            let durations = info.frameDurations
            guard count > 1 else { return [.zero] }
            return (0..<count).map { $0 < durations.count ? durations[$0] : FrameTiming.standard }
        }
    }

    /// Opens the beginning of an animation whose bytes are arriving; `nil` as long as it has fewer than two whole frames, and if its coder
    /// can't read it meanwhile.
    package convenience init?(
        arriving data: Data, options: DecodeOptions, _ coder: EntryCoder, context: DecodeContext,
        pressure: MemoryPressure? = .system
    ) throws(ImageError) {
        let coders = (coder.coders as? ImageCoders) ?? ImageCoders([coder.coders])
        guard !options.firstFrameOnly,
            let info = try coders.arrivingCoder(for: data, hint: options.formatHint)?
                .arrivedInfo(of: data, context: context),
            info.isAnimated
        else { return nil }
        var first = options
        first.firstFrameOnly = true
        first.allowsPartialImage = true
        let poster = try coders.decode(data, options: first, context: context).with { properties in
            properties.isPartial = false
            properties.decodeOptions.allowsPartialImage = options.allowsPartialImage
        }
        var contents = Contents(data, info, firstFrameOnly: false)
        contents.isArriving = true
        self.init(contents, poster: poster, options: options, coder, pressure: pressure)
    }

    // MARK: State

    /// True while bytes of the animation are arriving, so that there will be more frames. Players wait at the last one that is there.
    public var isArriving: Bool { contents.withLock { $0.isArriving } }

    /// The reason for which the rest of an animation that was arriving won't come: its load failed or was canceled, or the file is cut off.
    /// The frames that are there can be played.
    public var interruption: ImageError? { contents.withLock { $0.interruption } }

    /// True if there may be more frames than are known.
    package var isPartial: Bool { contents.withLock { !$0.isWhole } }

    /// All bytes of the file.
    var wholeData: Data {
        get throws(ImageError) {
            let contents = contents.withLock { $0 }
            guard contents.isWhole else {
                throw contents.interruption
                    ?? ImageError(.truncatedImage, stage: .encode, reason: "the animation is still being loaded")
            }
            return contents.data
        }
    }

    /// The order and the times of the frames that are there.
    func timeline(mode: PlaybackMode, loopCount: Int?) -> AnimationTimeline {
        let contents = contents.withLock { $0 }
        let own = contents.frameDurations.count > 1 ? contents.info.loopCount ?? 0 : 0
        return AnimationTimeline(
            durations: contents.frameDurations, mode: mode, loopCount: loopCount ?? own, isArriving: contents.isArriving
        )
    }

    /// Calls a closure after each change, on any thread, until the returned number is removed.
    func addObserver(_ observer: @escaping @Sendable () -> Void) -> Int {
        contents.withLock { contents in
            contents.lastObserver += 1
            contents.observers[contents.lastObserver] = observer
            return contents.lastObserver
        }
    }

    func removeObserver(_ number: Int) {
        let old = contents.withLock { $0.observers.removeValue(forKey: number) }
        _ = old  // Deallocated outside the lock.
    }

    // MARK: Arrival

    // These functions are called one at a time, by the load.

    /// Takes all bytes that have arrived so far.
    package func extend(_ data: Data, context: DecodeContext) {
        let known = contents.withLock { $0 }
        guard known.isArriving, data.count > known.data.count else { return }
        do throws(ImageError) {
            let coders = (coder.coders as? ImageCoders) ?? ImageCoders([coder.coders])
            guard
                let info = try coders.arrivingCoder(for: data, hint: options.formatHint)?
                    .arrivedInfo(of: data, context: context)
            else { return }
            try replace(data, info, isArriving: true)
        } catch {
            if !error.isCancellation { interrupt(error) }
        }
    }

    /// Takes all bytes of the file: the animation is now like any other.
    package func finish(_ data: Data, context: DecodeContext) {
        let known = contents.withLock { $0 }
        guard known.isArriving else { return }
        do throws(ImageError) {
            guard data.prefix(known.data.count) == known.data else {
                throw ImageError(.truncatedImage, stage: .decode, reason: "the source sent another file meanwhile")
            }
            let coders = (coder.coders as? ImageCoders) ?? ImageCoders([coder.coders])
            extend(data, context: context)
            // Tells if it can be played.
            _ = try coders.frameDecoder(for: data, options: options, context: context)
            let info = try coders.info(of: data, hint: options.formatHint, context: context)
            guard info.isComplete || info.frameCount <= frameCount else {
                throw ImageError(
                    .truncatedImage, stage: .decode, reason: "the file ends in frame \(frameCount + 1) of the animation"
                )
            }
            try replace(data, info, isArriving: false)
        } catch {
            interrupt(error)
        }
    }

    /// Notes that no more bytes will come.
    package func interrupt(_ error: ImageError) {
        change { contents in
            guard contents.isArriving else { return false }
            (contents.isArriving, contents.interruption) = (false, error)
            return true
        }
    }

    private func replace(_ data: Data, _ info: ImageInfo, isArriving: Bool) throws(ImageError) {
        let durations = Contents.durations(of: info)
        let known = contents.withLock { $0 }
        // Players are at frames that they have shown.
        guard durations.count >= known.frameDurations.count, info.size == known.info.size else {
            throw ImageError(.corruptImage, stage: .decode, reason: "the frames of the animation contradict each other")
        }
        change { contents in
            let isNew = !isArriving || durations != contents.frameDurations || info.loopCount != contents.info.loopCount
            (contents.data, contents.info, contents.frameDurations) = (data, info, durations)
            contents.isArriving = contents.isArriving && isArriving
            return isNew
        }
        for pool in pools.withLock({ $0.all }) { pool.takeNewBytes() }
    }

    /// - Parameter body: returns true if observers have to be told.
    private func change(_ body: (inout Contents) -> Bool) {
        let observers = contents.withLock { body(&$0) ? Array($0.observers.values) : [] }
        for observer in observers { observer() }
    }
}
