#if GTK
internal import CGTK
internal import CGTKShim
internal import TintypeDisplay

/// A paintable that shows a slot out of several.
@MainActor final class SlotPaintable {
    /// The `GdkPaintable`, which this object owns a reference to.
    private(set) var paintable: OpaquePointer?
    private var contents: [ImageSlot: SlotContents] = [:]
    /// The slots in order of precedence: the first slot with contents is shown.
    var order: [ImageSlot] { didSet { redraw() } }
    /// The size that the layout keeps, in application pixels, whatever is shown; `nil` for that of the image.
    var expectedSize: PixelSize? { didSet { redraw() } }

    init(_ order: [ImageSlot]) {
        self.order = order
        paintable = tintype_paintable_new(
            { context, snapshot, width, height, fit in
                guard let slotPaintable = WeakBox<SlotPaintable>.object(context), let snapshot else { return }
                // Sendable: widgets are drawn on the first thread, which is the main actor's.
                nonisolated(unsafe) let pointer = snapshot
                MainActor.assumeIsolated {
                    slotPaintable.shown?.draw(pointer, width, height, GtkContentFit(UInt32(fit)))
                }
            }, WeakBox(self).retained(), { WeakBox<SlotPaintable>.release($0) })
    }

    isolated deinit {
        if let paintable { g_object_unref(UnsafeMutableRawPointer(paintable)) }
    }

    /// Shows the paintable in the whole area of a `GtkPicture`, below the children of the picture.
    /// - Parameter isMeasured: false if the images don't count in the size of the picture.
    func show(in picture: WidgetPointer, isMeasured: Bool) {
        tintype_paintable_show_in(paintable, OpaquePointer(picture), isMeasured ? 1 : 0)
    }

    func content(of slot: ImageSlot) -> SlotContents {
        if let content = contents[slot] { return content }
        let content = SlotContents()
        contents[slot] = content
        return content
    }

    /// The contents that are drawn.
    var shown: SlotContents? {
        for slot in order {
            if let content = contents[slot], content.texture != nil { return content }
        }
        // An indicator without an image.
        return order.compactMap { contents[$0] }.first { $0.indicator?.isActive == true }
    }

    /// All animations of the slots.
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

    /// - Parameter isStill: true for users who asked for reduced motion.
    func advance(to time: Duration, isStill: Bool) -> SlotContents.Need {
        let shown = shown
        // The others are invisible, and loads may wait for the ends of their transitions.
        for content in contents.values where content !== shown { content.endTransition(isFinished: true) }
        guard let shown else { return .nothing }
        let (isNew, need) = shown.advance(to: time, isStill: isStill)
        if isNew { redraw() }
        return need
    }

    func redraw() {
        let size = expectedSize.map { (width: Double($0.width), height: Double($0.height)) } ?? shown?.texture?.size
        tintype_paintable_set_size(paintable, size?.width ?? 0, size?.height ?? 0)
    }
}
#endif
