public import FoundationEssentials

/// A view that shows images by URL or request, in any toolkit.
///
/// A conforming type implements how it shows an image. Its ``ImageBinding`` does everything else: it cancels replaced loads, never lets a
/// late image overwrite a newer image, and shows an image in memory at once.
@MainActor public protocol ImageDisplay: AnyObject {
    /// The loads of the display, which the display owns.
    var imageBinding: ImageBinding { get }

    /// Returns a request adapted to the display, for example for a thumbnail of its size. By default, returns the request unchanged.
    /// - Parameters:
    ///   - request: the request of the caller.
    ///   - slot: the slot.
    func adapted(_ request: ImageRequest, for slot: ImageSlot) -> ImageRequest

    /// Shows an image in a slot at once, and ends any transition and animation in the slot.
    /// - Parameters:
    ///   - content: the image; `nil` for none.
    ///   - slot: the slot.
    func show(_ content: DisplayedImage?, in slot: ImageSlot)

    /// Shows an image in a slot with a transition. By default, the image appears at once.
    /// - Parameters:
    ///   - content: the image.
    ///   - slot: the slot.
    ///   - transition: the transition.
    ///   - completion: a closure to call exactly once: with true at the end of the transition, or with false if something else is shown
    ///     first.
    func show(
        _ content: DisplayedImage, in slot: ImageSlot, with transition: ImageTransition,
        completion: @escaping @MainActor (_ isFinished: Bool) -> Void)

    /// Returns an indicator for a load, which replaces the slot's previous indicator. By default, returns `nil`.
    /// - Parameters:
    ///   - style: the kind of indicator.
    ///   - slot: the slot.
    func indicator(_ style: IndicatorStyle, in slot: ImageSlot) -> (any ImageIndicator)?

    /// Returns true if the display plays animations in a slot. By default, it shows the first frame.
    /// - Parameter slot: the slot.
    func playsAnimations(in slot: ImageSlot) -> Bool

    /// Tells the display that the state of a slot has changed: a load has begun, has progress, has ended, or was forgotten. By default,
    /// does nothing.
    /// - Parameter slot: the slot, whose state is ``ImageBinding/phase(of:)``.
    func phaseChanged(of slot: ImageSlot)

    /// Plays an animation in place of its first frame, which the slot shows.
    /// - Parameters:
    ///   - animation: the animation.
    ///   - slot: the slot.
    func play(_ animation: AnimatedImage, in slot: ImageSlot)
}

extension ImageDisplay {
    public func show(
        _ content: DisplayedImage, in slot: ImageSlot, with transition: ImageTransition,
        completion: @escaping @MainActor (_ isFinished: Bool) -> Void
    ) {
        show(content, in: slot)
        completion(true)
    }

    public func adapted(_ request: ImageRequest, for slot: ImageSlot) -> ImageRequest { request }
    public func indicator(_ style: IndicatorStyle, in slot: ImageSlot) -> (any ImageIndicator)? { nil }
    public func playsAnimations(in slot: ImageSlot) -> Bool { false }
    public func play(_ animation: AnimatedImage, in slot: ImageSlot) {}
    public func phaseChanged(of slot: ImageSlot) {}

    /// Shows the image of a request. The previous load of the slot is canceled first.
    ///
    /// An image in memory is shown before the call returns, without the placeholder.
    /// - Parameters:
    ///   - request: the request; `nil` shows the placeholder, and ends with ``ImageError/Code/invalidURL``.
    ///   - slot: the place for the image.
    ///   - placeholder: the image to show during the load; `nil` for an empty slot.
    ///   - failureImage: the image to show if the load fails; `nil` for the placeholder.
    ///   - display: the options for showing the image.
    ///   - transition: the change to the new image; `nil` for none.
    ///   - indicator: the sign that the image is being loaded; `nil` for none.
    ///   - onEvent: a closure that receives progress, previews, and the end, exactly once.
    /// - Returns: the load, which can be awaited, canceled, and moved to another priority.
    @discardableResult public func setImage(
        _ request: ImageRequest?, in slot: ImageSlot = .image, placeholder: Image? = nil, failureImage: Image? = nil,
        display: DisplayOptions = [], transition: ImageTransition? = nil, indicator: IndicatorStyle? = nil,
        onEvent: (@MainActor (ImageEvent) -> Void)? = nil
    ) -> DisplayLoad {
        imageBinding.setImage(
            request, in: slot,
            settings: DisplaySettings(
                placeholder: placeholder, failureImage: failureImage, options: display, transition: transition,
                indicator: indicator, onEvent: onEvent))
    }

    /// Shows the image at a URL. See the function that takes a request.
    /// - Parameters:
    ///   - url: the URL of the image; `nil` to show nothing but the placeholder.
    ///   - slot: the slot.
    ///   - placeholder: the image to show during the load.
    ///   - failureImage: the image to show if the load fails.
    ///   - display: the options for showing the image.
    ///   - transition: the change to the new image; `nil` to show it at once.
    ///   - indicator: the indicator of progress; `nil` for none.
    ///   - onEvent: a closure that receives progress, previews, and the end, exactly once.
    @discardableResult public func setImage(
        _ url: URL?, in slot: ImageSlot = .image, placeholder: Image? = nil, failureImage: Image? = nil,
        display: DisplayOptions = [], transition: ImageTransition? = nil, indicator: IndicatorStyle? = nil,
        onEvent: (@MainActor (ImageEvent) -> Void)? = nil
    ) -> DisplayLoad {
        setImage(
            url.map { ImageRequest($0) }, in: slot, placeholder: placeholder,
            failureImage: failureImage, display: display, transition: transition, indicator: indicator,
            onEvent: onEvent)
    }

    /// Cancels the load of a slot, if one is in progress. The slot keeps its contents.
    /// - Parameter slot: the slot.
    public func cancelImageLoad(in slot: ImageSlot = .image) { imageBinding.load(in: slot)?.cancel() }

    /// Returns the URL of the most recent load of a slot.
    /// - Parameter slot: the slot.
    public func imageURL(in slot: ImageSlot = .image) -> URL? { imageBinding.load(in: slot)?.request?.url }
}
