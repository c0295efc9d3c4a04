#if GTK
import CGTK
import Tintype
import TintypeTesting

@testable import TintypeGTK

/// Widgets that nobody sees, and users who don't want motion.
@MainActor
enum GTKVisibilityTests {
    static let all = [
        GTKTest(
            "With reduced motion, images change at once, and animations wait for the program", .capability("AIV-02")
        ) {
            run in
            setAnimations(false)
            defer { setAnimations(true) }
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red)))
            run.loader.answer(run.url("moving"), with: .data(Paint.animation()))
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            let load = picture.setImage(run.url("red"), display: .waitTransition, transition: .crossDissolve(3_600))
            _ = try await load.result.get()
            run.equal(run.color(picture.state.slotPaintables[0], in: picture.widget), Paint.red)
            _ = try await picture.setImage(run.url("moving")).result.get()
            run.equal(picture.player?.isPlaying, false)
            await run.wait("nothing moves") { !picture.state.isTicking }
            picture.player?.play()
            await run.wait("another pass") { (picture.player?.completedLoops ?? 0) >= 1 }
            // The setting may change at any time.
            setAnimations(true)
            run.equal(picture.player?.isPlaying, true)
            setAnimations(false)
            run.equal(picture.player?.isPlaying, false)
        },
        GTKTest(
            "After reduced motion, what it stopped goes on, but nothing that was paused, or that has ended",
            .capability("AIV-02")
        ) { run in
            defer { setAnimations(true) }
            run.loader.answer(run.url("moving"), with: .data(Paint.animation()))
            let picture = TintypePicture(manager: run.manager)
            picture.playback.loopCount = 1
            await run.show(picture.widget)
            WidgetState.usesFrameClock = false
            _ = try await picture.setImage(run.url("moving")).result.get()
            run.equal(picture.player?.isPlaying, true)
            for _ in 0..<2 {
                setAnimations(false)
                run.equal(picture.player?.isPlaying, false)
                setAnimations(true)
                run.equal(picture.player?.isPlaying, true)
            }
            picture.player?.pause()
            for isEnabled in [false, true] {
                setAnimations(isEnabled)
                run.equal(picture.player?.isPlaying, false)
            }
            picture.player?.play()
            var time = Duration.zero
            await run.wait("the end") {
                _ = picture.state.advance(to: time)
                time += .milliseconds(50)
                return picture.player?.isPlaying == false
            }
            for isEnabled in [false, true] {
                setAnimations(isEnabled)
                run.equal(picture.player?.isPlaying, false)
            }
            picture.player?.play()
            setAnimations(false)
            picture.player?.pause()
            setAnimations(true)
            run.equal(picture.player?.isPlaying, false)
        },
        GTKTest("An animation that is set while motion is reduced plays as soon as it no longer is") { run in
            setAnimations(false)
            defer { setAnimations(true) }
            run.loader.answer(run.url("moving"), with: .data(Paint.animation()))
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            _ = try await picture.setImage(run.url("moving")).result.get()
            run.equal(picture.player?.isPlaying, false)
            setAnimations(true)
            run.equal(picture.player?.isPlaying, true)
        },
        GTKTest("In scrolled windows inside scrolled windows, only what all of them show plays", .capability("AIV-08"))
        {
            run in
            run.loader.answer(run.url("moving"), with: .data(Paint.animation()))
            let (outer, inner) = (gtk_scrolled_window_new()!, gtk_scrolled_window_new()!)
            let picture = TintypePicture(manager: run.manager)
            gtk_widget_set_size_request(picture.widget, 50, 50)
            gtk_scrolled_window_set_child(OpaquePointer(inner), picture.widget)
            gtk_widget_set_size_request(inner, 80, 80)
            gtk_widget_set_valign(inner, GTK_ALIGN_START)
            let (box, tall) = (gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)!, gtk_label_new(nil)!)
            gtk_widget_set_size_request(tall, 10, 4_000)
            let row = UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self)
            gtk_box_append(row, inner)
            gtk_box_append(row, tall)
            gtk_scrolled_window_set_child(OpaquePointer(outer), box)
            await run.show(outer, width: 100, height: 100)
            _ = try await picture.setImage(run.url("moving")).result.get()
            await run.wait("it plays") { picture.player?.isSuspended == false && picture.imageBinding.isVisible }
            let adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(outer))
            gtk_adjustment_set_value(adjustment, 3_000)
            await run.wait("it stands still") { picture.player?.isSuspended == true && !picture.imageBinding.isVisible }
            gtk_adjustment_set_value(adjustment, 0)
            await run.wait("it plays again") { picture.player?.isSuspended == false }
        },
        GTKTest("A widget that is moved into sight plays, without a scroll", .capability("AIV-08")) { run in
            run.loader.answer(run.url("moving"), with: .data(Paint.animation()))
            let (scrolled, box) = (gtk_scrolled_window_new()!, gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)!)
            let (picture, tall) = (TintypePicture(manager: run.manager), gtk_label_new(nil)!)
            gtk_widget_set_size_request(picture.widget, 50, 50)
            gtk_widget_set_size_request(tall, 10, 4_000)
            let row = UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self)
            for child in [tall, picture.widget] { gtk_box_append(row, child) }
            gtk_scrolled_window_set_child(OpaquePointer(scrolled), box)
            await run.show(scrolled, width: 100, height: 100)
            _ = try await picture.setImage(run.url("moving")).result.get()
            await run.wait("it stands still") { picture.player?.isSuspended == true && !picture.imageBinding.isVisible }
            gtk_box_reorder_child_after(row, picture.widget, nil)
            await run.wait("it plays") { picture.player?.isSuspended == false && picture.imageBinding.isVisible }
            gtk_box_reorder_child_after(row, picture.widget, tall)
            await run.wait("it stands still again") { picture.player?.isSuspended == true }
        },
        GTKTest("What a popover shows isn't in what scrolls behind it", .capability("AIV-08")) { run in
            let (scrolled, button, popover) = (gtk_scrolled_window_new()!, gtk_menu_button_new()!, gtk_popover_new()!)
            let (inside, behind) = (TintypePicture(manager: run.manager), TintypePicture(manager: run.manager))
            let box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)!
            for child in [button, behind.widget] {
                gtk_box_append(UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self), child)
            }
            gtk_popover_set_child(
                UnsafeMutableRawPointer(popover).assumingMemoryBound(to: GtkPopover.self), inside.widget)
            gtk_menu_button_set_popover(OpaquePointer(button), popover)
            gtk_scrolled_window_set_child(OpaquePointer(scrolled), box)
            await run.show(scrolled, width: 100, height: 100)
            run.equal(Viewport.around(behind.widget).count, 1)
            run.equal(Viewport.around(inside.widget).count, 0)
        },
        GTKTest("A transparent widget doesn't play", .capability("AIV-08")) { run in
            run.loader.answer(run.url("moving"), with: .data(Paint.animation()))
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            _ = try await picture.setImage(run.url("moving")).result.get()
            run.equal(picture.player?.isSuspended, false)
            gtk_widget_set_opacity(picture.widget, 0)
            run.equal(picture.player?.isSuspended, true)
            gtk_widget_set_opacity(picture.widget, 0.5)
            run.equal(picture.player?.isSuspended, false)
        },
        GTKTest("A widget doesn't play inside a transparent one, wherever it is moved", .capability("AIV-08")) { run in
            run.loader.answer(run.url("moving"), with: .data(Paint.animation()))
            let picture = TintypePicture(manager: run.manager)
            let boxes = (0..<3).map { _ in gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)! }
            @MainActor func append(_ widget: WidgetPointer, to box: WidgetPointer) {
                gtk_box_append(UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self), widget)
            }
            for box in boxes.dropFirst() { append(box, to: boxes[0]) }
            append(picture.widget, to: boxes[1])
            let window = await run.show(boxes[0])
            _ = try await picture.setImage(run.url("moving")).result.get()
            for ancestor in [boxes[1], boxes[0], window] {
                run.equal(picture.player?.isSuspended, false)
                gtk_widget_set_opacity(ancestor, 0)
                run.equal(picture.player?.isSuspended, true)
                gtk_widget_set_opacity(ancestor, 1)
            }
            gtk_widget_set_opacity(boxes[2], 0)
            gtk_box_remove(UnsafeMutableRawPointer(boxes[1]).assumingMemoryBound(to: GtkBox.self), picture.widget)
            append(picture.widget, to: boxes[2])
            run.equal(picture.player?.isSuspended, true)
            // The earlier place is none of its business.
            gtk_widget_set_opacity(boxes[1], 0)
            gtk_widget_set_opacity(boxes[2], 1)
            run.equal(picture.player?.isSuspended, false)
        },
        GTKTest("What a popover points to may be transparent: its own widgets play", .capability("AIV-08")) { run in
            run.loader.answer(run.url("moving"), with: .data(Paint.animation()))
            let picture = TintypePicture(manager: run.manager)
            let anchor = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)!
            await run.show(anchor)
            let popover = gtk_popover_new()!
            let pointer = UnsafeMutableRawPointer(popover).assumingMemoryBound(to: GtkPopover.self)
            gtk_popover_set_autohide(pointer, 0)
            gtk_popover_set_child(pointer, picture.widget)
            gtk_widget_set_parent(popover, anchor)
            defer { gtk_widget_unparent(popover) }
            gtk_popover_popup(pointer)
            await run.wait("the popover is there") { gtk_widget_get_mapped(picture.widget) != 0 }
            _ = try await picture.setImage(run.url("moving")).result.get()
            gtk_widget_set_opacity(anchor, 0)
            run.equal(picture.player?.isSuspended, false)
            gtk_widget_set_opacity(popover, 0)
            run.equal(picture.player?.isSuspended, true)
        },
        GTKTest("An image that failed is loaded again when its widget appears again", .capability("VEW-23")) { run in
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            if case .success = await picture.setImage(run.url("red")).result { run.check(false, "there is an image") }
            run.manager.removeAllFailures()
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red)))
            gtk_widget_set_visible(picture.widget, 0)
            gtk_widget_set_visible(picture.widget, 1)
            await run.wait("the image is there") {
                run.color(picture.state.slotPaintables[0], in: picture.widget) == Paint.red
            }
        },
        GTKTest("A load goes on when its widget is mapped, and begins with its priority when the widget comes back") {
            run in
            let (gate, seen) = (OriginGate(), Lock<[ImagePriority]>([]))
            let data = Paint.png(Paint.red)
            let loader = TestLoader { request in
                seen.withLock { $0.append(request.priority.value) }
                return .data(data).waiting(at: gate)
            }
            let manager = ImageManager(cache: ImageCache(), loader: loader, coders: ImageCoders.default)
            let picture = TintypePicture(manager: manager)
            let load = picture.setImage(run.url("red"))
            try await gate.waitForArrivals(1)
            await run.show(picture.widget)
            run.equal(loader.requestCount(), 1)
            gtk_widget_set_visible(picture.widget, 0)
            await run.wait("the load is suspended") { loader.runningLoads == 0 }
            gtk_widget_set_visible(picture.widget, 1)
            try await gate.waitForArrivals(2)
            gate.openForGood()
            _ = try await load.result.get()
            run.equal(seen.withLock { $0 }, [.normal, .normal])
        },
        GTKTest(
            "A picture that leaves its window during a load ends the load, and goes away when nothing else keeps it"
        ) {
            run in
            let (live, gate) = (WidgetState.liveCount, OriginGate())
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red)).waiting(at: gate))
            let boxes = (0..<2).map { _ in gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)! }
            @MainActor func row(_ box: WidgetPointer) -> UnsafeMutablePointer<GtkBox> {
                UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self)
            }
            gtk_box_append(row(boxes[0]), boxes[1])
            await run.show(boxes[0])
            var (ends, tasks) = (0, [Task<Bool, Never>]())
            do {
                // One leaves its box, the other with its box.
                let pictures = (0..<2).map { _ in TintypePicture(manager: run.manager) }
                for (picture, box) in zip(pictures, boxes) {
                    gtk_box_append(row(box), picture.widget)
                    await run.wait("it is mapped") { gtk_widget_get_mapped(picture.widget) != 0 }
                    let load = picture.setImage(run.url("red")) { [picture] event in
                        if case .finished = event { ends += picture.imageURL() == nil ? 0 : 1 }
                    }
                    tasks.append(Task { (try? await load.result.get()) != nil })
                }
                try await gate.waitForArrivals(1)
                gtk_box_remove(row(boxes[0]), pictures[0].widget)
                gtk_box_remove(row(boxes[0]), boxes[1])
            }
            gate.openForGood()
            for task in tasks { run.check(await task.value, "the load failed") }
            run.equal(ends, 2)
            await run.wait("the pictures are gone") { WidgetState.liveCount == live }
        },
    ]

    /// Sets the wish of the user for motion.
    private static func setAnimations(_ isEnabled: Bool) {
        var value = GValue()
        g_value_init(&value, GType(5 << 2))
        g_value_set_boolean(&value, isEnabled ? 1 : 0)
        gtk_settings_get_default().map {
            g_object_set_property(GObjects.object(UnsafeMutableRawPointer($0)), "gtk-enable-animations", &value)
        }
    }
}
#endif
