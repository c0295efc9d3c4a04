#if GTK
public import TintypeDisplay

/// The way in which a widget plays animations. It belongs to the widget, and holds for each animation that the widget shows.
public struct PlaybackSettings: Sendable, Hashable {
    /// True if animations begin by themselves, the default. Otherwise, and for users who asked their desktop for reduced motion
    /// (`gtk-enable-animations`), they show their first frame until the program calls `play()` of the player.
    ///
    /// A change holds for animations that are shown afterwards. The player plays and pauses an animation that is shown.
    public var isAutomatic = true
    /// The order of the frames.
    public var mode = PlaybackMode.normal
    /// The speed, 1 for the image's. See ``/Tintype/AnimatedImagePlayer/rate``.
    public var rate = 1.0
    /// The number of passes, 0 to repeat forever; `nil`, the default, for the image's.
    public var loopCount: Int?
    /// True to skip frames that are late. See ``/Tintype/AnimatedImagePlayer/skipsLateFrames``.
    public var skipsLateFrames = false
    /// The memory for frames that are kept decoded. See ``/Tintype/AnimatedImagePlayer/maximumBufferSize``.
    public var maximumBufferSize: ByteCount?

    /// Creates settings with the defaults.
    public init() {}

    /// Gives a player the settings that differ from those that it has.
    func apply(to player: AnimatedImagePlayer, replacing old: PlaybackSettings = PlaybackSettings()) {
        if mode != old.mode { player.mode = mode }
        if rate != old.rate { player.rate = rate }
        if loopCount != old.loopCount { player.loopCount = loopCount ?? player.image.loopCount }
        if skipsLateFrames != old.skipsLateFrames { player.skipsLateFrames = skipsLateFrames }
        if maximumBufferSize != old.maximumBufferSize { player.maximumBufferSize = maximumBufferSize }
    }
}
#endif
