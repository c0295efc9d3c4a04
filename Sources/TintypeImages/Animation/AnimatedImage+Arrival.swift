package import FoundationEssentials

extension AnimatedImage {
    /// Opens the start of an animation whose bytes are arriving; `nil` as long as it has fewer than two whole frames, and if its coder
    /// can't read it meanwhile.
    package convenience init?(
        arriving data: Data, options: DecodeOptions, _ coder: EntryCoder, context: ProcessingContext,
        pressure: MemoryPressure? = .system
    ) throws(ImageError) {
        let coders = coder.list
        // A limit of bytes is shared by all frames, and their number isn't known yet.
        guard !options.firstFrameOnly, options.maximumBytes == nil,
            let info = try coders.arrivingCoder(for: data, hint: options.formatHint)?
                .arrivedInfo(of: data, context: context),
            info.isAnimated
        else { return nil }
        var first = options
        first.firstFrameOnly = true
        first.allowsPartialImage = true
        let poster = try coders.decode(data, options: first, context: context).with { properties in
            properties.isPartial = false
            properties.decodeOptions = options
            properties.loopCount = info.loopCount ?? 0
        }
        let contents = AnimationContents(
            data, info, options: options, coder, poster: poster, isArriving: true)
        self.init(contents, poster: poster, pressure: pressure)
    }

    /// True while bytes of the animation are arriving, so that more frames are expected. Players wait at the last frame that has arrived.
    public var isArriving: Bool { contents.known.isArriving }

    /// The reason why the rest of an animation that was arriving won't come: its load failed or was canceled, or the file is cut off.
    /// The frames that are there can be played.
    package var interruption: ImageError? { contents.known.interruption }

    /// True if there may be more frames than are known.
    package var isPartial: Bool { !contents.known.isWhole }

    /// Takes all bytes that have arrived so far. Called by the load, like the next two functions, and never concurrently.
    package func extend(_ data: Data, context: ProcessingContext) { contents.extend(data, context: context) }

    /// Takes all bytes of the file: the animation is now like any other.
    package func finish(_ data: Data, context: ProcessingContext) { contents.finish(data, context: context) }

    /// Notes that no more bytes will come.
    package func interrupt(_ error: ImageError) { contents.interrupt(error) }
}
