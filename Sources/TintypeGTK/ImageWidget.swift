#if GTK
internal import CGTK
internal import CGTKShim
public import TintypeDisplay

/// The base class of GTK widgets that show images: pictures, avatars, and buttons.
///
/// `setImage` comes from ``/Tintype/ImageDisplay``.
@MainActor public class ImageWidget: ImageDisplay {
    /// The GTK widget. The object retains it.
    public let widget: WidgetPointer
    let state: PictureState

    /// - Parameter makeState: prepares a widget that shows no images yet.
    init(_ widget: WidgetPointer, _ makeState: () -> PictureState) {
        self.widget = widget
        g_object_ref_sink(UnsafeMutableRawPointer(widget))
        state = WidgetState.of(widget) as? PictureState ?? makeState()
    }

    isolated deinit { g_object_unref(UnsafeMutableRawPointer(widget)) }

    // MARK: Sizes

    /// The largest size at which images are shown, in application pixels; `nil`, the default, for full-size images.
    ///
    /// Images are decoded as thumbnails of this size times the scale factor of the screen; they cover it if the content fit of the picture
    /// is “cover”. A request with its own thumbnail size keeps it. A change affects later loads. To apply it to the current image, call
    /// ``/Tintype/ImageBinding/reload()`` of the ``imageBinding``.
    public var decodeSize: PixelSize? {
        get { state.decodeSize }
        set { state.decodeSize = newValue }
    }

    /// The natural size, in application pixels, with or without an image, so that the layout doesn't jump when the image appears; `nil`,
    /// the default, for the size of the image. The content fit places an image of other proportions.
    public var expectedSize: PixelSize? {
        get { state.expectedSize }
        set { state.expectedSize = newValue }
    }

    // MARK: What stands in for an image

    /// The content until there is an image; `nil`, the default, for nothing. The placeholder of a load takes precedence.
    ///
    /// This property, ``failure``, and ``indicator`` need a `GtkPicture` or a `GtkButton`: a `GtkImage` of the program shows only images.
    public var placeholder: WidgetContent? {
        get { state.placeholder?.content }
        set { state.placeholder = state.standIn(newValue) }
    }

    /// The content if a load fails and there is no image; `nil`, the default, for ``placeholder``. The reason becomes the tooltip of the
    /// widget, unless the program has set a tooltip.
    public var failure: WidgetContent? {
        get { state.failure?.content }
        set { state.failure = state.standIn(newValue) }
    }

    /// The content during loads that have an indicator; `nil`, the default, for a spinner or a bar that the library draws. A `GtkSpinner`
    /// spins, and a `GtkProgressBar` fills.
    public var indicator: WidgetContent? {
        get { state.indicator?.content }
        set { state.setIndicator(state.standIn(newValue)) }
    }

    // MARK: Loads

    /// A closure that is called whenever the state of a slot changes: a load begins, has progress, ends, or is forgotten.
    public var onPhaseChange: (@MainActor (ImageSlot, DisplayPhase) -> Void)? {
        get { state.onPhaseChange }
        set { state.onPhaseChange = newValue }
    }

    /// The text alternative for people who can't see the image; `nil`, the default, for none. While an image is being loaded, the widget
    /// reports to assistive technology that it is busy.
    public var alternativeText: String? {
        get { state.alternativeText }
        set {
            state.alternativeText = newValue
            if GObjects.isA(widget, gtk_picture_get_type()) {
                gtk_picture_set_alternative_text(OpaquePointer(widget), newValue)
            }
            // For GTK before 4.10, the alternative text is a description, and no name.
            tintype_set_accessible_label(widget, newValue)
        }
    }

    /// The number of device pixels per application pixel, such as 1, 1.5, or 2. A widget without a window has that of the first screen. Before
    /// GTK 4.12, it is a whole number, rounded up.
    public var scaleFactor: Double { state.scaleFactor }

    // MARK: Animations

    /// The playback settings for the current animation and for later animations. ``PlaybackSettings/isAutomatic`` affects later animations
    /// only.
    public var playback: PlaybackSettings {
        get { state.playback }
        set { state.playback = newValue }
    }

    // MARK: ImageDisplay

    /// The loads of the widget.
    public var imageBinding: ImageBinding { state.imageBinding }

    /// Returns a request for the ``decodeSize``, unless it has its own thumbnail size. Use the result to prefetch images for the widget.
    /// - Parameters:
    ///   - request: the request.
    ///   - slot: the slot.
    public func adapted(_ request: ImageRequest, for slot: ImageSlot) -> ImageRequest {
        state.adapted(request, for: slot)
    }

    /// Shows an image at once, without a load. An animation stays at its first frame until ``play(_:in:)``. The load of the slot is canceled
    /// and forgotten, unless it has the option ``/Tintype/DisplayOptions/avoidAutoSetImage``.
    /// - Parameters:
    ///   - content: the image; `nil` for none.
    ///   - slot: the slot.
    public func show(_ content: DisplayedImage?, in slot: ImageSlot) {
        imageBinding.showOwn(in: slot, isEmpty: content == nil) { state.show(content, in: slot) }
    }

    /// Shows an image with a transition, without a load. The load of the slot is canceled and forgotten, unless it has the option
    /// ``/Tintype/DisplayOptions/avoidAutoSetImage``.
    /// - Parameters:
    ///   - content: the image.
    ///   - slot: the slot.
    ///   - transition: the transition.
    ///   - completion: a closure that is called exactly once: with true at the end of the transition, or with false if something else is
    ///     shown first.
    public func show(
        _ content: DisplayedImage, in slot: ImageSlot, with transition: ImageTransition,
        completion: @escaping @MainActor (_ isFinished: Bool) -> Void
    ) {
        imageBinding.showOwn(in: slot) { state.show(content, in: slot, with: transition, completion: completion) }
    }

    public func indicator(_ style: IndicatorStyle, in slot: ImageSlot) -> (any ImageIndicator)? {
        state.indicator(style, in: slot)
    }

    public func playsAnimations(in slot: ImageSlot) -> Bool { state.playsAnimations(in: slot) }

    /// Plays an animation in a slot, without a load. The load of the slot is canceled and forgotten, unless it has the option
    /// ``/Tintype/DisplayOptions/avoidAutoSetImage``.
    /// - Parameters:
    ///   - animation: the animation.
    ///   - slot: the slot.
    public func play(_ animation: AnimatedImage, in slot: ImageSlot) {
        imageBinding.showOwn(in: slot) { state.play(animation, in: slot) }
    }
}
#endif
