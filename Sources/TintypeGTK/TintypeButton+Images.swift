#if GTK
public import FoundationEssentials
public import TintypeDisplay

extension TintypeButton {
    /// Shows the image at a URL for a state of the button.
    ///
    /// For a request, an indicator, or a failure image, call `setImage` with the slot ``imageSlot(for:)``.
    /// - Parameters:
    ///   - url: the URL; `nil` shows the placeholder.
    ///   - state: the state.
    ///   - placeholder: the image to show during the load.
    ///   - display: the options for showing the image.
    ///   - transition: the change to the new image.
    ///   - onEvent: a closure that receives progress, previews, and the end, exactly once.
    /// - Returns: the load.
    @discardableResult public func setImage(
        _ url: URL?, for state: State, placeholder: Image? = nil, display: DisplayOptions = [],
        transition: ImageTransition? = nil, onEvent: (@MainActor (ImageEvent) -> Void)? = nil
    ) -> DisplayLoad {
        setImage(
            url, in: Self.imageSlot(for: state), placeholder: placeholder, display: display, transition: transition,
            onEvent: onEvent)
    }

    /// Shows the image at a URL as the background for a state of the button. The parameters are the same as in `setImage`.
    /// - Parameters:
    ///   - url: the URL of the image; `nil` to show nothing but the placeholder.
    ///   - state: the state of the button.
    ///   - placeholder: the image to show during the load.
    ///   - display: the options for showing the image.
    ///   - transition: the change to the new image; `nil` to show it at once.
    ///   - onEvent: a closure that receives progress, previews, and the end, exactly once.
    @discardableResult public func setBackgroundImage(
        _ url: URL?, for state: State, placeholder: Image? = nil, display: DisplayOptions = [],
        transition: ImageTransition? = nil, onEvent: (@MainActor (ImageEvent) -> Void)? = nil
    ) -> DisplayLoad {
        setImage(
            url, in: Self.backgroundSlot(for: state), placeholder: placeholder, display: display,
            transition: transition, onEvent: onEvent)
    }

    /// Returns the URL of the image for a state: its own, or else the normal state's.
    /// - Parameter state: the state of the button.
    public func imageURL(for state: State) -> URL? {
        imageURL(in: Self.imageSlot(for: state)) ?? imageURL(in: Self.imageSlot(for: .normal))
    }

    /// Returns the URL of the background for a state: its own, or else the normal state's.
    /// - Parameter state: the state of the button.
    public func backgroundImageURL(for state: State) -> URL? {
        imageURL(in: Self.backgroundSlot(for: state)) ?? imageURL(in: Self.backgroundSlot(for: .normal))
    }

    /// Cancels the loads in progress for a state, if any.
    /// - Parameter state: the state of the button.
    public func cancelImageLoads(for state: State) {
        cancelImageLoad(in: Self.imageSlot(for: state))
        cancelImageLoad(in: Self.backgroundSlot(for: state))
    }
}
#endif
