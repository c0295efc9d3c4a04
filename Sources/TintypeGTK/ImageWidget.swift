#if GTK
internal import CGTK
public import TintypeDisplay

/// A GTK widget that shows images: the part that pictures and buttons have in common.
@MainActor public class ImageWidget: ImageDisplay {
    /// The widget, which the object retains.
    public let widget: WidgetPointer
    let state: PictureState

    /// - Parameter makeState: prepares a widget that shows no images yet.
    init(_ widget: WidgetPointer, _ makeState: () -> PictureState) {
        self.widget = widget
        g_object_ref_sink(UnsafeMutableRawPointer(widget))
        state = WidgetState.of(widget) as? PictureState ?? makeState()
    }

    isolated deinit { g_object_unref(UnsafeMutableRawPointer(widget)) }

    /// The largest displayed size of images, in application pixels; `nil`, the default, for images in full.
    ///
    /// Images are decoded as thumbnails of this size times the scale factor of the screen. A request with a thumbnail size of its own keeps
    /// that.
    public var decodeSize: PixelSize? {
        get { state.decodeSize }
        set { state.decodeSize = newValue }
    }

    // MARK: ImageDisplay

    public var imageBinding: ImageBinding { state.imageBinding }

    public func adapted(_ request: ImageRequest, for slot: ImageSlot) -> ImageRequest {
        state.adapted(request, for: slot)
    }

    public func show(_ content: DisplayedImage?, in slot: ImageSlot) { state.show(content, in: slot) }

    public func show(
        _ content: DisplayedImage, in slot: ImageSlot, with transition: ImageTransition,
        completion: @escaping @MainActor (_ isFinished: Bool) -> Void
    ) { state.show(content, in: slot, with: transition, completion: completion) }

    public func indicator(_ style: IndicatorStyle, in slot: ImageSlot) -> (any ImageIndicator)? {
        state.indicator(style, in: slot)
    }

    public func playsAnimations(in slot: ImageSlot) -> Bool { state.playsAnimations(in: slot) }

    public func play(_ animation: AnimatedImage, in slot: ImageSlot) { state.play(animation, in: slot) }
}
#endif
