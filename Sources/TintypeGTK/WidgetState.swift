#if GTK
internal import CGTK
internal import CGTKShim
internal import TintypeDisplay

/// The images of a widget. It is attached to the widget, and lives as long as that.
@MainActor class WidgetState {
    /// The widget, as long as it exists; not retained.
    private(set) var widget: WidgetPointer?
    let slotPaintables: [SlotPaintable]
    private(set) lazy var imageBinding = makeBinding()
    /// False in tests, which call ``advance(to:)`` themselves.
    static var usesFrameClock = true
    /// The number of widgets that show images now.
    private(set) static var liveCount = 0

    private static let key = "tintype-images"
    private var tick: guint = 0
    /// True if something started within a tick, which looked too early to see it.
    private var wantsTick = false
    private var timer: guint = 0
    private var wasMapped = false
    /// Rung by the players.
    private(set) lazy var notifier = MainActorNotifier { [weak self] in self?.playersChanged() }
    /// Those of all scrolled windows that the widget is in.
    private var viewports: [Viewport] = []
    /// The signals that are followed while the widget is mapped, of objects that are retained.
    private var connections: [(object: UnsafeMutableRawPointer, handler: gulong)] = []
    /// True if the widget is within the part of its window that is scrolled into view.
    var isInViewport = true { didSet { if isInViewport != oldValue { updateVisibility() } } }
    private var isMapped = false { didSet { updateSuspension() } }
    /// True if the widget is in a window. Without one, it may never be mapped again.
    private var hasWindow: Bool { widget.map { gtk_widget_get_root($0) != nil } ?? false }
    /// True from ``awaitPlace()`` until the place of the widget is known.
    private var isAwaitingPlace = false { didSet { updateSuspension() } }

    init(_ widget: WidgetPointer, slotPaintables: [SlotPaintable]) {
        self.widget = widget
        self.slotPaintables = slotPaintables
        Self.liveCount += 1
        attach(to: widget)
    }

    isolated deinit { Self.liveCount -= 1 }

    /// Returns the images of a widget, if it has any.
    static func of(_ widget: WidgetPointer) -> WidgetState? {
        g_object_get_data(GObjects.object(widget), key).map {
            Unmanaged<WidgetState>.fromOpaque($0).takeUnretainedValue()
        }
    }

    func makeBinding() -> ImageBinding {
        preconditionFailure("a widget that shows images has its own binding")
    }

    private func attach(to widget: WidgetPointer) {
        g_object_set_data_full(
            GObjects.object(widget), Self.key, Unmanaged.passRetained(self).toOpaque(),
            { data in
                guard let data else { return }
                // Sendable: widgets are finalized on the first thread, which is the main actor's.
                nonisolated(unsafe) let pointer = data
                MainActor.assumeIsolated {
                    let state = Unmanaged<WidgetState>.fromOpaque(pointer)
                    state.takeUnretainedValue().detach()
                    state.release()
                }
            })
        GObjects.connect(widget, "map") { [weak self] in self?.didMap() }
        GObjects.connect(widget, "unmap") { [weak self] in self?.didUnmap() }
        GObjects.connect(widget, "destroy") { [weak self] in self?.detach() }
        GObjects.connectArgument(widget, "notify::scale-factor") { [weak self] _ in self?.imageBinding.reload() }
        // Later, when a widget that moves has its new window, and a widget that goes away is gone.
        let rootNotifier = MainActorNotifier { [weak self] in
            guard let self else { return }
            if !hasWindow { isAwaitingPlace = false }
            updateSuspension()
        }
        GObjects.connectArgument(widget, "notify::root") { [weak self] _ in
            if self?.hasWindow == false { rootNotifier.notify() }
        }
        if gtk_widget_get_mapped(widget) != 0 { didMap() }
    }

    /// Ends everything: the widget goes away.
    private func detach() {
        guard widget != nil else { return }
        willDetach()
        stopClock()
        leaveViewports()
        disconnect()
        widget = nil
        imageBinding.prepareForReuse()
        // Otherwise, loads that the program has started since would never end.
        updateSuspension()
        for slotPaintable in slotPaintables { slotPaintable.removeAll() }
    }

    /// Called once, when the widget goes away.
    func willDetach() {}

    /// The number of device pixels per application pixel.
    var scaleFactor: Double { Self.fixedScale ?? widget.map { max(1, tintype_scale($0)) } ?? 1 }
    /// The scale factor of all widgets in tests of other screens.
    static var fixedScale: Double?

    /// True if the user asked for reduced motion.
    var reducesMotion: Bool { widget.map { tintype_reduces_motion($0) != 0 } ?? false }

    // MARK: Visibility

    private func didMap() {
        let isBack = wasMapped
        wasMapped = true
        if let widget {
            enterViewports(of: widget)
            followSurroundings(of: widget)
        }
        // In this order, loads are resumed with their own priority, and loads that are under way go on.
        updateVisibility()
        isMapped = true
        if viewports.isEmpty { isAwaitingPlace = false }
        if isBack { imageBinding.repeatFailed() }
        reloadInNextFrame()
    }

    /// Looks at the scale of the window, which may be another one. A new surface begins with a guess of GTK's.
    private func reloadInNextFrame() {
        guard Self.usesFrameClock, let widget else { return imageBinding.reload() }
        gtk_widget_add_tick_callback(
            widget,
            { _, _, data in
                let state = WeakBox<WidgetState>.object(data)
                MainActor.assumeIsolated { state?.imageBinding.reload() }
                return 0
            }, WeakBox<WidgetState>(self).retained(), { WeakBox<WidgetState>.release($0) })
    }

    private func didUnmap() {
        leaveViewports()
        disconnect()
        isInViewport = true
        isMapped = false
        updateVisibility()
    }

    private func enterViewports(of widget: WidgetPointer) {
        viewports = Viewport.around(widget)
        for viewport in viewports { viewport.add(self) }
    }

    private func leaveViewports() {
        for viewport in viewports { viewport.remove(self) }
        viewports = []
    }

    /// Follows the opacity of the widget and all around it, and the scale of the window. GTK before 4.12 tells the scale of a widget only, in whole numbers.
    private func followSurroundings(of widget: WidgetPointer) {
        disconnect()
        for ancestor in Self.ancestry(of: widget) {
            connect(UnsafeMutableRawPointer(ancestor), "notify::opacity") { state in
                if state.isVisible != state.imageBinding.isVisible { state.updateVisibility() }
            }
        }
        if let surface = gtk_widget_get_native(widget).flatMap({ gtk_native_get_surface($0) }) {
            connect(UnsafeMutableRawPointer(surface), "notify::scale") { $0.imageBinding.reload() }
        }
    }

    /// A widget and everything that it is in, to its window or popover: the opacity of what a popover points to isn't its own.
    static func ancestry(of widget: WidgetPointer) -> some Sequence<WidgetPointer> {
        sequence(first: widget) { GObjects.isA($0, gtk_native_get_type()) ? nil : gtk_widget_get_parent($0) }
    }

    private func connect(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ action: @escaping @MainActor (WidgetState) -> Void
    ) {
        let handler = GObjects.connectArgument(object, signal) { [weak self] _ in if let self { action(self) } }
        g_object_ref(object)
        connections.append((object, handler))
    }

    private func disconnect() {
        let connections = connections
        self.connections = []
        for (object, handler) in connections {
            g_signal_handler_disconnect(object, handler)
            g_object_unref(object)
        }
    }

    /// Looks at the place of the widget after a scrolled window was laid out, or scrolled.
    func updatePlace() {
        if let widget { isInViewport = viewports.allSatisfy { $0.shows(widget) } }
    }

    /// Begins no load until the widget is laid out, because the visible ones come first then. A list makes and moves many more items than it shows,
    /// and scrolls past others.
    func awaitPlace() {
        guard !isMapped || !viewports.isEmpty else { return }
        isAwaitingPlace = true
        for viewport in viewports { viewport.add(self) }
    }

    /// Notes that the widget has been laid out.
    func didFindPlace() { isAwaitingPlace = false }

    /// Suspends loads while the widget waits to be mapped. Without a window, they go on, because each load ends.
    private func updateSuspension() {
        imageBinding.isSuspended = widget != nil && (isAwaitingPlace || wasMapped && !isMapped && hasWindow)
    }

    private var isVisible: Bool {
        guard let widget else { return false }
        return isInViewport && (gtk_widget_get_mapped(widget) != 0 || !wasMapped)
            && Self.ancestry(of: widget).allSatisfy { gtk_widget_get_opacity($0) > 0 }
    }

    /// Lets animations move or stand still, and sets the priority of loads.
    func updateVisibility() {
        let isVisible = isVisible
        imageBinding.isVisible = isVisible
        for player in slotPaintables.flatMap(\.players) { player.isSuspended = !isVisible }
        if isVisible {
            needsTick()
        } else {
            stopClock()
            // They would be invisible, and loads may wait for their ends.
            for slotPaintable in slotPaintables { slotPaintable.finishTransitions() }
        }
    }

    // MARK: Time

    /// True if the next frame, or a timer, moves the contents.
    var isTicking: Bool { tick != 0 || timer != 0 }

    /// Asks for a call of ``advance(to:)`` with the next frame, because there is something new.
    func needsTick() {
        for slotPaintable in slotPaintables { slotPaintable.redraw() }
        startTicking()
    }

    /// Looks at players that were told to go on, that moved to another frame, or that have a frame which they waited for.
    private func playersChanged() {
        if isVisible, tick == 0 { startTicking() }
    }

    private func startTicking() {
        guard isVisible else {
            for slotPaintable in slotPaintables { slotPaintable.finishTransitions() }
            return
        }
        guard Self.usesFrameClock else { return }
        guard let widget, gtk_widget_get_mapped(widget) != 0 else {
            // Before it is mapped, a widget has no frames, and they would be invisible.
            for slotPaintable in slotPaintables { slotPaintable.finishTransitions() }
            return
        }
        wantsTick = true
        guard tick == 0 else { return }
        removeTimer()
        tick = gtk_widget_add_tick_callback(
            widget,
            { _, clock, data in
                let time = Duration.microseconds(clock.map { gdk_frame_clock_get_frame_time($0) } ?? 0)
                guard let state = WeakBox<WidgetState>.object(data) else { return 0 }
                return MainActor.assumeIsolated { state.didTick(at: time) } ? 1 : 0
            }, WeakBox<WidgetState>(self).retained(), { WeakBox<WidgetState>.release($0) })
    }

    /// - Returns: true if the next frame matters, too.
    private func didTick(at time: Duration) -> Bool {
        wantsTick = false
        let need = advance(to: time)
        // The program, which was told of an end, may have hidden the widget.
        guard tick != 0 else { return false }
        guard !wantsTick else { return true }
        switch need {
        case .nextFrame: return true
        case .nothing: break
        case .after(let delay): startTimer(delay)
        }
        tick = 0
        return false
    }

    private func startTimer(_ delay: Duration) {
        removeTimer()
        // Some milliseconds early, so that the frame clock runs when the time has come.
        let milliseconds = guint(clamping: Int(delay / .milliseconds(1)) - 20)
        timer = g_timeout_add_full(
            G_PRIORITY_DEFAULT, milliseconds,
            { data in
                guard let state = WeakBox<WidgetState>.object(data) else { return 0 }
                MainActor.assumeIsolated {
                    state.timer = 0
                    state.needsTick()
                }
                return 0
            }, WeakBox<WidgetState>(self).retained(), { WeakBox<WidgetState>.release($0) })
    }

    private func removeTimer() {
        if timer != 0 { g_source_remove(timer) }
        timer = 0
    }

    private func stopClock() {
        removeTimer()
        if tick != 0, let widget { gtk_widget_remove_tick_callback(widget, tick) }
        tick = 0
    }

    /// Moves transitions, animations, and indicators to a time.
    func advance(to time: Duration) -> SlotContents.Need {
        var need = SlotContents.Need.nothing
        let isStill = reducesMotion
        for slotPaintable in slotPaintables {
            switch (slotPaintable.advance(to: time, isStill: isStill), need) {
            case (.nextFrame, _), (_, .nextFrame): need = .nextFrame
            case (.after(let one), .after(let other)): need = .after(min(one, other))
            case (.after(let delay), .nothing): need = .after(delay)
            case (.nothing, _): break
            }
        }
        return need
    }
}
#endif
