#if GTK
internal import CGTK

/// The visible part of a scrolled window, which knows the widgets with images in it.
@MainActor final class Viewport {
    private static let key = "tintype-viewport"
    private let window: WidgetPointer
    private var members: [ObjectIdentifier: WeakBox<WidgetState>] = [:]
    /// True while an update waits for the next frame, and for the end of a layout.
    private var (awaitsFrame, awaitsLayout) = (false, false)
    /// The frame clock of the window while there are members, with the handler of its layouts.
    private var clock: (object: OpaquePointer, handler: gulong)?

    /// Returns the viewports of all scrolled windows that a widget is in.
    static func around(_ widget: WidgetPointer) -> [Viewport] {
        // A popover isn't in what scrolls behind it.
        WidgetState.ancestry(of: widget).filter { GObjects.isA($0, gtk_scrolled_window_get_type()) }.map(of)
    }

    private static func of(_ window: WidgetPointer) -> Viewport {
        if let data = g_object_get_data(GObjects.object(window), key) {
            return Unmanaged<Viewport>.fromOpaque(data).takeUnretainedValue()
        }
        let viewport = Viewport(window)
        g_object_set_data_full(
            GObjects.object(window), key, Unmanaged.passRetained(viewport).toOpaque(),
            { data in if let data { Unmanaged<Viewport>.fromOpaque(data).release() } })
        return viewport
    }

    private init(_ window: WidgetPointer) { self.window = window }

    isolated deinit { followLayouts(of: nil) }

    func add(_ state: WidgetState) {
        members[ObjectIdentifier(state)] = WeakBox(state)
        followLayouts(of: gtk_widget_get_frame_clock(window))
        updateAfterNextFrame()
    }

    func remove(_ state: WidgetState) {
        members[ObjectIdentifier(state)] = nil
        if members.isEmpty { followLayouts(of: nil) }
    }

    /// Looks at the widgets after each layout, whatever has caused it: a scroll, other sizes, or another order.
    private func followLayouts(of newClock: OpaquePointer?) {
        guard newClock != clock?.object else { return }
        if let clock {
            g_signal_handler_disconnect(UnsafeMutableRawPointer(clock.object), clock.handler)
            g_object_unref(UnsafeMutableRawPointer(clock.object))
        }
        clock = newClock.map { object in
            let pointer = UnsafeMutableRawPointer(object)
            g_object_ref(pointer)
            return (object, GObjects.connect(pointer, "layout") { [weak self] in self?.updateAfterLayout() })
        }
    }

    /// True if a widget is in the part that is scrolled into view.
    func shows(_ widget: WidgetPointer) -> Bool {
        var bounds = graphene_rect_t()
        guard gtk_widget_compute_bounds(widget, window, &bounds) != 0 else { return true }
        // A widget that isn't laid out yet counts as visible.
        guard bounds.size.width > 0, bounds.size.height > 0 else { return true }
        let (width, height) = (Float(gtk_widget_get_width(window)), Float(gtk_widget_get_height(window)))
        return bounds.origin.x < width && bounds.origin.x + bounds.size.width > 0 && bounds.origin.y < height
            && bounds.origin.y + bounds.size.height > 0
    }

    /// Looks at all widgets after a layout that the next frame may have.
    private func updateAfterNextFrame() {
        guard !awaitsFrame else { return }
        awaitsFrame = true
        gtk_widget_add_tick_callback(
            window,
            { _, _, data in
                if let viewport = WeakBox<Viewport>.object(data) {
                    MainActor.assumeIsolated {
                        viewport.awaitsFrame = false
                        viewport.updateAfterLayout()
                    }
                }
                return 0
            }, WeakBox<Viewport>(self).retained(), { WeakBox<Viewport>.release($0) })
    }

    /// Looks at all widgets after this frame. Not in idle time: an animation that GTK draws slowly leaves none.
    private func updateAfterLayout() {
        guard !awaitsLayout else { return }
        awaitsLayout = true
        g_idle_add_full(
            G_PRIORITY_DEFAULT,
            { data in
                if let viewport = WeakBox<Viewport>.object(data) { MainActor.assumeIsolated { viewport.update() } }
                return 0
            }, WeakBox<Viewport>(self).retained(), { WeakBox<Viewport>.release($0) })
    }

    private func update() {
        awaitsLayout = false
        let states = members.values.compactMap(\.object)
        for state in states { state.updatePlace() }
        // Only now, so that those in sight load first.
        for state in states where state.isInViewport { state.didFindPlace() }
        for state in states { state.didFindPlace() }
    }
}
#endif
