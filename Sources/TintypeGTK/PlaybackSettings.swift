#if GTK
public import TintypeDisplay

/// Settings for playing animations in a widget. They apply to each animation that the widget shows.
public struct PlaybackSettings: Sendable, Hashable {
    /// True, the default, to play animations automatically. If false, or if the user has asked the desktop for reduced motion
    /// (`gtk-enable-animations`), animations show their first frame until the program calls `play()` of the player.
    ///
    /// A change affects animations that are shown afterwards. Use the player to play and pause the current animation.
    public var isAutomatic = true
    /// The order of the frames.
    public var mode = PlaybackMode.normal
    /// The speed; 1 for the image's own. See ``/Tintype/AnimatedImagePlayer/rate``.
    public var rate = 1.0
    /// The number of passes; 0 to repeat forever, or `nil`, the default, for the image's own.
    public var loopCount: Int?
    /// True to skip frames that are late. See ``/Tintype/AnimatedImagePlayer/skipsLateFrames``.
    public var skipsLateFrames = false
    /// The memory for decoded frames. See ``/Tintype/AnimatedImagePlayer/maximumBufferSize``.
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
