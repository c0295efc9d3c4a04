#if GTK
internal import CGTK

/// The visible part of a scrolled window, which knows the widgets with images in it.
@MainActor final class Viewport {
    private static let key = "tintype-viewport"
    private let window: WidgetPointer
    private var members: [ObjectIdentifier: WeakBox<WidgetState>] = [:]
    private var isScheduled = false

    /// Returns the viewports of all scrolled windows that a widget is in.
    static func around(_ widget: WidgetPointer) -> [Viewport] {
        var found: [Viewport] = []
        var inner = widget
        while let window = gtk_widget_get_ancestor(inner, gtk_scrolled_window_get_type()) {
            found.append(of(window))
            guard let parent = gtk_widget_get_parent(window) else { break }
            inner = parent
        }
        return found
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

    private init(_ window: WidgetPointer) {
        self.window = window
        let scrolled = OpaquePointer(window)
        for adjustment in [
            gtk_scrolled_window_get_hadjustment(scrolled), gtk_scrolled_window_get_vadjustment(scrolled),
        ] {
            guard let adjustment else { continue }
            for signal in ["value-changed", "changed"] {
                GObjects.connect(adjustment, signal) { [weak self] in self?.scheduleUpdate() }
            }
        }
    }

    func add(_ state: WidgetState) {
        members[ObjectIdentifier(state)] = WeakBox(state)
        scheduleUpdate()
    }

    func remove(_ state: WidgetState) { members[ObjectIdentifier(state)] = nil }

    /// True if a widget is in the part that is scrolled into view, or at most so many pages away from it.
    func shows(_ widget: WidgetPointer, pages: Float = 0) -> Bool {
        var bounds = graphene_rect_t()
        guard gtk_widget_compute_bounds(widget, window, &bounds) != 0 else { return true }
        // A widget that isn't laid out yet counts as visible.
        guard bounds.size.width > 0, bounds.size.height > 0 else { return true }
        let (width, height) = (Float(gtk_widget_get_width(window)), Float(gtk_widget_get_height(window)))
        let (start, end) = (-pages, 1 + pages)
        return bounds.origin.x < end * width && bounds.origin.x + bounds.size.width > start * width
            && bounds.origin.y < end * height && bounds.origin.y + bounds.size.height > start * height
    }

    /// Looks at all widgets when the window has been laid out: in the idle time after its next frame.
    private func scheduleUpdate() {
        guard !isScheduled else { return }
        isScheduled = true
        gtk_widget_add_tick_callback(
            window,
            { _, _, data in
                if let viewport = WeakBox<Viewport>.object(data) {
                    MainActor.assumeIsolated { viewport.didBeginFrame() }
                }
                return 0
            }, WeakBox<Viewport>(self).retained(), { WeakBox<Viewport>.release($0) })
    }

    private func didBeginFrame() {
        g_idle_add_full(
            G_PRIORITY_DEFAULT_IDLE,
            { data in
                if let viewport = WeakBox<Viewport>.object(data) { MainActor.assumeIsolated { viewport.update() } }
                return 0
            }, WeakBox<Viewport>(self).retained(), { WeakBox<Viewport>.release($0) })
    }

    private func update() {
        isScheduled = false
        let states = members.values.compactMap(\.object)
        for state in states { state.updatePlace() }
        // Only now, so that those in sight load first.
        for state in states where state.isInViewport { state.didFindPlace() }
        for state in states { state.didFindPlace() }
    }
}
#endif
