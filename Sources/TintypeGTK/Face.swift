#if GTK
internal import CGTK
internal import CGTKShim
internal import TintypeDisplay

/// A paintable that shows a slot out of several.
@MainActor final class Face {
    /// The `GdkPaintable`, which the face owns a reference to.
    private(set) var paintable: OpaquePointer?
    private var contents: [ImageSlot: FaceContent] = [:]
    /// The slots in order of precedence: the first slot with contents is shown.
    var order: [ImageSlot] { didSet { redraw() } }

    init(_ order: [ImageSlot]) {
        self.order = order
        paintable = tintype_paintable_new(
            { context, snapshot, width, height in
                guard let face = WeakBox<Face>.object(context), let snapshot else { return }
                // Sendable: widgets are drawn on the first thread, which is the main actor's.
                nonisolated(unsafe) let pointer = snapshot
                MainActor.assumeIsolated { face.shown?.draw(pointer, width, height) }
            }, WeakBox(self).retained(), { WeakBox<Face>.release($0) })
    }

    isolated deinit {
        if let paintable { g_object_unref(UnsafeMutableRawPointer(paintable)) }
    }

    func content(of slot: ImageSlot) -> FaceContent {
        if let content = contents[slot] { return content }
        let content = FaceContent()
        contents[slot] = content
        return content
    }

    /// The contents that are drawn.
    var shown: FaceContent? {
        for slot in order {
            if let content = contents[slot], content.texture != nil { return content }
        }
        // An indicator without an image.
        return order.compactMap { contents[$0] }.first { $0.indicator?.isActive == true }
    }

    /// All animations of the face.
    var players: [AnimatedImagePlayer] { contents.values.compactMap(\.player) }

    func removeAll() {
        let old = contents
        contents = [:]
        for content in old.values { content.show(nil, scale: 1) }
        redraw()
    }

    func finishTransitions() {
        for content in contents.values { content.endTransition(isFinished: true) }
        redraw()
    }

    func advance(to time: Duration) -> FaceContent.Need {
        let shown = shown
        // The others are invisible, and loads may wait for the ends of their transitions.
        for content in contents.values where content !== shown { content.endTransition(isFinished: true) }
        guard let shown else { return .nothing }
        let (isNew, need) = shown.advance(to: time)
        if isNew { redraw() }
        return need
    }

    func redraw() {
        let size = shown?.texture?.pointSize
        tintype_paintable_set_size(paintable, Int32(size?.width ?? 0), Int32(size?.height ?? 0))
    }
}

#endif
