#if GTK
internal import CGTK
internal import CGTKShim
internal import Tintype

/// The images of a widget that shows them in its paintables.
@MainActor final class PictureState: WidgetState, ImageDisplay {
    private let manager: ImageManager?
    var decodeSize: PixelSize?
    var onPhaseChange: (@MainActor (ImageSlot, DisplayPhase) -> Void)?
    private let slotPaintable: (ImageSlot) -> SlotPaintable?
    /// The `GtkPicture` that shows what stands in for the image of ``mainSlot``; `nil` if there is none.
    private let front: WidgetPointer?
    private let mainSlot: ImageSlot
    /// True if assistive technology was told that the widget is loading.
    private(set) var isBusy = false
    private var shownReason: String?
    var alternativeText: String?
    private var motionHandler: gulong = 0

    /// - Parameters:
    ///   - front: the `GtkPicture` that shows what stands in for an image; `nil` if there is none.
    ///   - mainSlot: the slot of that image.
    ///   - slotPaintable: returns the paintable that shows a slot.
    init(
        _ widget: WidgetPointer, manager: ImageManager?, slotPaintables: [SlotPaintable], front: WidgetPointer?,
        mainSlot: ImageSlot, slotPaintable: @escaping (ImageSlot) -> SlotPaintable?
    ) {
        self.manager = manager
        self.slotPaintable = slotPaintable
        self.front = front
        self.mainSlot = mainSlot
        super.init(widget, slotPaintables: slotPaintables)
        // Earlier than the widget that it may be in.
        if let front, front != widget { GObjects.connect(front, "destroy") { [weak self] in self?.removeStandIns() } }
    }

    isolated deinit {
        if motionHandler != 0, let settings = gtk_settings_get_default() {
            g_signal_handler_disconnect(UnsafeMutableRawPointer(settings), motionHandler)
        }
    }

    override func makeBinding() -> ImageBinding {
        manager.map { ImageBinding(self, manager: $0) } ?? ImageBinding(self)
    }

    private func content(_ slot: ImageSlot) -> SlotContents? { slotPaintable(slot)?.content(of: slot) }

    // MARK: Sizes

    func adapted(_ request: ImageRequest, for slot: ImageSlot) -> ImageRequest {
        guard let decodeSize, request.thumbnailSize == nil else { return request }
        var request = request
        request.thumbnailSize = PixelSize(
            width: Int(min(1e6, Double(decodeSize.width) * scaleFactor).rounded(.up)),
            height: Int(min(1e6, Double(decodeSize.height) * scaleFactor).rounded(.up)))
        if coversArea { request.decode.coversThumbnailSize = true }
        return request
    }

    private var coversArea: Bool {
        front.map { gtk_picture_get_content_fit(OpaquePointer($0)) == GTK_CONTENT_FIT_COVER } ?? false
    }

    /// The pixels of an image per application pixel. A thumbnail has the screen's, and is shown as large on every screen; any other image
    /// has its own.
    private func scale(of content: DisplayedImage, in slot: ImageSlot) -> Double {
        let image = content.image
        guard let decodeSize, !decodeSize.isEmpty, content.role == .image || content.role == .preview,
            imageBinding.load(in: slot)?.request?.thumbnailSize == nil
        else { return image.scale }
        let source = image.properties.sourceSize ?? image.size
        guard !source.isEmpty else { return image.scale }
        func factor(_ pixelsPerPoint: Double) -> Double {
            let horizontal = Double(decodeSize.width) * pixelsPerPoint / Double(source.width)
            let vertical = Double(decodeSize.height) * pixelsPerPoint / Double(source.height)
            return min(1, coversArea ? max(horizontal, vertical) : min(horizontal, vertical))
        }
        let shrunk =
            image.isTransformed ? factor(scaleFactor) : Double(image.size.width) / Double(source.width)
        return image.scale * shrunk / factor(image.scale)
    }

    /// The size that the layout keeps, in application pixels.
    var expectedSize: PixelSize? {
        get { slotPaintable(mainSlot)?.expectedSize }
        set { slotPaintable(mainSlot)?.expectedSize = newValue }
    }

    // MARK: Showing

    func show(_ content: DisplayedImage?, in slot: ImageSlot) {
        self.content(slot)?.show(content?.image, scale: content.map { scale(of: $0, in: slot) } ?? 1)
        updateStandIns()
        needsTick()
    }

    func show(
        _ content: DisplayedImage, in slot: ImageSlot, with transition: ImageTransition,
        completion: @escaping @MainActor (Bool) -> Void
    ) {
        guard let place = self.content(slot), widget != nil else { return completion(false) }
        var transition = transition
        if reducesMotion { transition.duration = .zero }
        place.show(content.image, scale: scale(of: content, in: slot), with: transition, completion: completion)
        updateStandIns()
        needsTick()
    }

    func indicator(_ style: IndicatorStyle, in slot: ImageSlot) -> (any ImageIndicator)? {
        if slot == mainSlot, let indicator { return WidgetIndicator(indicator) }
        let indicator = IndicatorDrawing(style) { [weak self] in self?.needsTick() }
        content(slot)?.indicator = indicator
        return indicator
    }

    func phaseChanged(of slot: ImageSlot) {
        guard let widget else { return }
        let phase = imageBinding.phase(of: slot)
        if case .empty = phase { content(slot)?.isEmptied = false }
        if slot == mainSlot {
            updateStandIns()
            updateTooltip(widget)
        }
        let isBusy = imageBinding.isLoading
        if isBusy != self.isBusy { tintype_set_busy(widget, isBusy ? 1 : 0) }
        self.isBusy = isBusy
        onPhaseChange?(slot, phase)
    }

    // MARK: Animations

    var playback = PlaybackSettings() {
        didSet { for player in slotPaintables.flatMap(\.players) { playback.apply(to: player, replacing: oldValue) } }
    }

    func playsAnimations(in slot: ImageSlot) -> Bool { true }

    func play(_ animation: AnimatedImage, in slot: ImageSlot) {
        content(slot)?.play(animation, playback, reducesMotion: reducesMotion) { [notifier] in notifier.notify() }
        if motionHandler == 0, let settings = gtk_settings_get_default() {
            motionHandler = GObjects.connectArgument(
                UnsafeMutableRawPointer(settings), "notify::gtk-enable-animations"
            ) { [weak self] _ in self?.motionChanged() }
        }
        updateStandIns()
        updateVisibility()
    }

    private func motionChanged() {
        guard playback.isAutomatic else { return }
        for player in slotPaintables.flatMap(\.players) where player.isPlaying || !reducesMotion {
            player.isStilled = reducesMotion
        }
    }

    func player(in slot: ImageSlot) -> AnimatedImagePlayer? { content(slot)?.player }

    // MARK: What stands in for an image

    var placeholder: StandIn? { didSet { replaced(oldValue) } }
    var failure: StandIn? { didSet { replaced(oldValue) } }
    private(set) var indicator: StandIn?

    /// Sets the indicator, also of a load that is under way.
    func setIndicator(_ new: StandIn?) {
        indicator = new
        imageBinding.replaceIndicator(in: mainSlot)
    }

    /// Makes what stands in for an image; `nil` where there is no place for it.
    func standIn(_ content: WidgetContent?) -> StandIn? {
        guard let front, let content else { return nil }
        return StandIn(content, in: front) { [weak self] in
            guard let self else { return }
            imageBinding.retry(in: mainSlot)
        }
    }

    private func replaced(_ old: StandIn?) {
        old?.hide()
        updateStandIns()
    }

    /// The error of the main slot, unless nothing was asked for, or the load was canceled.
    private var failureReason: String? {
        guard let load = imageBinding.load(in: mainSlot), load.request != nil, case .failure(let error)? = load.end,
            !error.isCancellation
        else { return nil }
        return error.reason
    }

    private func updateStandIns() {
        guard placeholder != nil || failure != nil, let content = content(mainSlot) else { return }
        var shown: StandIn?
        let reason = failureReason
        if content.texture == nil {
            if reason != nil {
                shown = failure ?? placeholder
            } else if case .loading = imageBinding.phase(of: mainSlot) {
                shown = content.isEmptied ? placeholder : nil
            } else {
                shown = placeholder
            }
        }
        for standIn in [placeholder, failure] where standIn !== shown { standIn?.hide() }
        shown?.show(reason: reason)
    }

    /// Shows the reason of a failure, where the program has no tooltip.
    private func updateTooltip(_ widget: WidgetPointer) {
        let reason = failureReason
        guard reason != shownReason,
            gtk_widget_get_tooltip_text(widget).map({ String(cString: $0) }) == shownReason
        else { return }
        gtk_widget_set_tooltip_text(widget, reason)
        shownReason = reason
    }

    private func removeStandIns() {
        for standIn in [placeholder, failure, indicator] { standIn?.hide() }
        (placeholder, failure, indicator) = (nil, nil, nil)
    }

    override func willDetach() { removeStandIns() }
}
#endif
