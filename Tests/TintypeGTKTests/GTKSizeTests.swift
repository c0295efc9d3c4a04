#if GTK
import CGTK
import Glibc
import Tintype
import TintypeTesting

@testable import TintypeGTK

/// Sizes and places of images, and the textures that widgets share.
@MainActor
enum GTKSizeTests {
    static let all = [
        GTKTest(
            "Widgets that show one image share its texture, and so do those that play one frame", .capability("3.7")
        ) {
            run in
            WidgetState.usesFrameClock = false
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red)))
            run.loader.answer(run.url("moving"), with: .data(Paint.animation()))
            let pictures = (0..<3).map { _ in TintypePicture(manager: run.manager) }
            @MainActor func textures() -> Set<ObjectIdentifier> {
                Set(
                    pictures.compactMap {
                        $0.state.slotPaintables[0].shown?.texture.map { ObjectIdentifier($0.texture) }
                    })
            }
            for name in ["red", "moving"] {
                for picture in pictures { _ = try await picture.setImage(run.url(name)).result.get() }
                run.equal(textures().count, 1)
            }
            for picture in pictures { _ = picture.state.advance(to: .zero) }
            await run.wait("the second frame") {
                for picture in pictures { _ = picture.state.advance(to: .milliseconds(110)) }
                return pictures.allSatisfy { $0.player?.currentFrameIndex == 1 }
            }
            run.equal(textures().count, 1)
        },
        GTKTest("A thousand pictures of one image cost at most 10 MB more than a thousand of GTK", .capability("3.7")) {
            run in
            let size = PixelSize(width: 800, height: 600)
            let data = try Paint.pattern(1, size).encoded(as: .jpeg)
            run.loader.answer(run.url("large"), with: .data(data))
            let image = try await run.manager.image(for: run.url("large"))
            guard let texture = Texture.of(image.pixels) else { return run.check(false, "no texture") }
            let plain = try await grown(run) { gtk_picture_new_for_paintable(texture.pointer) }
            var pictures: [TintypePicture] = []
            let textures = Texture.buffersInUse.withLock { $0 }
            let own = try await grown(run) {
                let picture = TintypePicture(manager: run.manager)
                picture.setImage(run.url("large"))
                pictures.append(picture)
                return picture.widget
            }
            print("    1,000 widgets of one image: GtkPicture \(plain / 1_000) kB, TintypePicture \(own / 1_000) kB")
            run.equal(Texture.buffersInUse.withLock { $0 }, textures)
            run.check(own - plain < 10_000_000, "\(own - plain) bytes more")
        },
        GTKTest("A transition begins with the old image where it was", .capability("TRN-01")) { run in
            WidgetState.usesFrameClock = false
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            let slotPaintable = picture.state.slotPaintables[0]
            picture.show(DisplayedImage(Paint.image(Paint.red, width: 20, height: 40), role: .image), in: .image)
            let wide = DisplayedImage(Paint.image(Paint.blue, width: 40, height: 20), role: .image)
            picture.show(wide, in: .image, with: .crossDissolve(1)) { _ in }
            _ = picture.state.advance(to: .seconds(1))
            // The old image is as high as the area, and half as wide.
            for (x, y, alpha) in [(0.5, 0.05, 255), (0.3, 0.5, 255), (0.1, 0.5, 0), (0.9, 0.1, 0)]
                as [(Double, Double, UInt8)]
            {
                run.equal(run.color(slotPaintable, in: picture.widget, x: x, y: y)?.w, alpha)
            }
            _ = picture.state.advance(to: .seconds(2))
            run.equal(run.color(slotPaintable, in: picture.widget, x: 0.1), Paint.blue)
            run.equal(run.color(slotPaintable, in: picture.widget, y: 0.05)?.w, 0)
        },
        GTKTest("A flip shows the old image, its edge, and the new image", .capability("TRN-02")) { run in
            WidgetState.usesFrameClock = false
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            let slotPaintable = picture.state.slotPaintables[0]
            for edge in ImageTransition.Edge.allCases {
                picture.show(DisplayedImage(Paint.image(Paint.red), role: .image), in: .image)
                var transition = ImageTransition.flip(from: edge, 1)
                transition.easing = { $0 }
                picture.show(DisplayedImage(Paint.image(Paint.blue), role: .image), in: .image, with: transition) { _ in
                }
                let isUpright = edge == .left || edge == .right
                for (time, color) in [(0.0, Paint.red), (0.25, Paint.red), (0.75, Paint.blue), (1, Paint.blue)] {
                    _ = picture.state.advance(to: .seconds(10 + time))
                    run.equal(run.color(slotPaintable, in: picture.widget), color)
                    // On the way, the sides that turn are nearer to the middle.
                    let side = run.color(
                        slotPaintable, in: picture.widget, x: isUpright ? 0.02 : 0.5, y: isUpright ? 0.5 : 0.02)
                    run.equal(side?.w == 255, time == 0 || time == 1)
                }
                _ = picture.state.advance(to: .seconds(12))
            }
        },
        GTKTest("Images, thumbnails, and placeholders have the same size on every screen") { run in
            defer { WidgetState.fixedScale = nil }
            for (name, width, height) in [("small", 64, 32), ("middle", 200, 100), ("large", 800, 400)] {
                run.loader.answer(run.url(name), with: .data(Paint.png(Paint.red, width: width, height: height)))
            }
            for (number, scale) in [1, 1.5, 2, 3].enumerated() {
                WidgetState.fixedScale = scale
                for widget in [TintypePicture(manager: run.manager), TintypeButton(manager: run.manager)] {
                    widget.decodeSize = PixelSize(width: 168, height: 168)
                    await run.show(widget.widget)
                    let slot = widget is TintypeButton ? TintypeButton.imageSlot(for: .normal) : .image
                    let paintable = widget.state.slotPaintables[0].paintable
                    @MainActor func size() -> [Int32] {
                        [gdk_paintable_get_intrinsic_width(paintable), gdk_paintable_get_intrinsic_height(paintable)]
                    }
                    for (name, expected) in [("small", [64, 32]), ("middle", [168, 84]), ("large", [168, 84])]
                        as [(String, [Int32])]
                    {
                        let image = try await widget.setImage(run.url(name), in: slot).result.get().image
                        run.equal(size(), expected)
                        if name == "large" { run.equal(image.size.width, Int((168 * scale).rounded(.up))) }
                    }
                    let placeholder = Paint.image(Paint.gray, width: 48, height: 48)
                    widget.setImage(run.url("missing\(number)"), in: slot, placeholder: placeholder)
                    run.equal(size(), [48, 48])
                    widget.cancelImageLoad(in: slot)
                }
            }
        },
        GTKTest("Indicators have the same size and place on every screen", .capability("IND-04")) { run in
            defer { WidgetState.fixedScale = nil }
            for (number, scale) in [1, 1.5, 2].enumerated() {
                WidgetState.fixedScale = scale
                for (style, expected) in [(IndicatorStyle.spinner, [4, 4, 36, 36]), (.progress, [6, 17, 34, 23])] {
                    let gate = OriginGate()
                    let url = run.url("\(expected[0])-\(number)")
                    run.loader.answer(url, with: .data(Paint.png(Paint.red)).waiting(at: gate))
                    for widget in [TintypePicture(manager: run.manager), TintypeButton(manager: run.manager)] {
                        await run.show(widget.widget)
                        let slot = widget is TintypeButton ? TintypeButton.imageSlot(for: .normal) : .image
                        widget.setImage(url, in: slot, indicator: style)
                        // In the pixels of the screen, which are whole.
                        let density = Int(scale.rounded(.up))
                        let drawn = widget.state.slotPaintables[0].paintable.flatMap {
                            WidgetCapture.image(of: $0, width: 40, height: 40, scale: density, in: widget.widget)
                        }
                        run.equal(drawn.map { box($0.pixels).map { $0 / density } }, expected)
                        widget.cancelImageLoad(in: slot)
                    }
                }
            }
        },
        GTKTest("An image is decoded anew when the scale of the window changes by a fraction") { run in
            WidgetState.fixedScale = 1.25
            defer { WidgetState.fixedScale = nil }
            run.loader.answer(run.url("large"), with: .data(Paint.png(Paint.red, width: 800, height: 400)))
            let picture = TintypePicture(manager: run.manager)
            picture.decodeSize = PixelSize(width: 100, height: 100)
            await run.show(picture.widget)
            _ = try await picture.setImage(run.url("large")).result.get()
            @MainActor func width() -> Int? {
                picture.state.slotPaintables[0].shown?.texture?.texture.size.width
            }
            run.equal(width(), 125)
            // As GTK 4.12 tells it; earlier releases have no such property.
            let property = g_param_spec_double("scale", nil, nil, 1, 10, 1, G_PARAM_READABLE)
            WidgetState.fixedScale = 1.75
            let surface = gtk_native_get_surface(gtk_widget_get_native(picture.widget))!
            g_object_notify_by_pspec(GObjects.object(UnsafeMutableRawPointer(surface)), property)
            await run.wait("it has the pixels of the new scale") { width() == 175 }
            // It was moved to another window.
            WidgetState.fixedScale = 1.5
            gtk_widget_set_visible(picture.widget, 0)
            gtk_widget_set_visible(picture.widget, 1)
            await run.wait("it has the pixels of the last scale") { width() == 150 }
        },
        GTKTest("A texture for the program is the one that widgets show", .capability("3.7")) { run in
            let textures = Texture.buffersInUse.withLock { $0 }
            do {
                let image = Paint.image(Paint.red, width: 30, height: 20)
                let picture = TintypePicture(manager: run.manager)
                await run.show(picture.widget)
                picture.show(DisplayedImage(image, role: .image), in: .image)
                let texture = image.makeTexture()
                run.check(texture == picture.state.slotPaintables[0].shown?.texture?.texture.pointer, "another texture")
                run.equal([gdk_texture_get_width(texture), gdk_texture_get_height(texture)], [30, 20])
                picture.setImage(nil as URL?)
                // The program's reference keeps it.
                let drawn = texture.flatMap { WidgetCapture.image(of: $0, width: 30, height: 20, in: picture.widget) }
                run.equal(drawn?.pixels[10, 10], Paint.red)
                if let texture { g_object_unref(UnsafeMutableRawPointer(texture)) }
            }
            await run.close()
            await run.wait("it is released") { Texture.buffersInUse.withLock { $0 } == textures }
        },
        GTKTest("A picture that covers its area is decoded at the size that covers it") { run in
            run.loader.answer(run.url("wide"), with: .data(Paint.png(Paint.red, width: 800, height: 400)))
            let picture = TintypePicture(manager: run.manager)
            gtk_picture_set_content_fit(OpaquePointer(picture.widget), GTK_CONTENT_FIT_COVER)
            picture.decodeSize = PixelSize(width: 100, height: 100)
            await run.show(picture.widget)
            let image = try await picture.setImage(run.url("wide")).result.get().image
            run.equal(image.size.height, Int(100 * picture.scaleFactor))
        },
        GTKTest("Without a window, a widget has the scale factor of the first screen") { run in
            let (shown, loose) = (TintypePicture(manager: run.manager), TintypePicture(manager: run.manager))
            await run.show(shown.widget)
            run.check(shown.scaleFactor >= 1, "\(shown.scaleFactor)")
            run.equal(loose.scaleFactor, shown.scaleFactor)
        },
        GTKTest("An expected size keeps the layout, whatever comes") { run in
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red, width: 30, height: 200)))
            let picture = TintypePicture(manager: run.manager)
            let (box, label) = (gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)!, gtk_label_new("below")!)
            let row = UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self)
            picture.expectedSize = PixelSize(width: 120, height: 60)
            gtk_widget_set_halign(picture.widget, GTK_ALIGN_CENTER)
            gtk_box_append(row, picture.widget)
            gtk_box_append(row, label)
            await run.show(box, width: 200, height: 400)
            @MainActor func top() -> Float {
                var bounds = graphene_rect_t()
                _ = gtk_widget_compute_bounds(label, box, &bounds)
                return bounds.origin.y
            }
            let before = top()
            run.check(before >= 60, "\(before)")
            _ = try await picture.setImage(run.url("red")).result.get()
            for _ in 0..<5 { await run.pump() }
            run.equal(top(), before)
            // In its own proportions, in the middle.
            run.equal(run.color(picture.state.slotPaintables[0], in: picture.widget, x: 0.05)?.w, 0)
            run.equal(run.color(picture.state.slotPaintables[0], in: picture.widget), Paint.red)
        },
        GTKTest("A button has room for its image, and keeps it when the program sets a label", .capability("VEW-20")) {
            run in
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red, width: 200, height: 120)))
            let button = TintypeButton(manager: run.manager)
            gtk_widget_set_halign(button.widget, GTK_ALIGN_CENTER)
            gtk_widget_set_valign(button.widget, GTK_ALIGN_CENTER)
            await run.show(button.widget, width: 400, height: 300)
            _ = try await button.setImage(run.url("red"), for: .normal).result.get()
            var image: WidgetPointer?
            @MainActor func find(_ widget: WidgetPointer) {
                if GObjects.isA(widget, gtk_picture_get_type()),
                    gtk_picture_get_paintable(OpaquePointer(widget)) == button.state.slotPaintables[0].paintable
                {
                    image = widget
                }
                var child = gtk_widget_get_first_child(widget)
                while let next = child {
                    find(next)
                    child = gtk_widget_get_next_sibling(next)
                }
            }
            find(button.widget)
            await run.wait("the image has its size") {
                gtk_widget_get_width(image) >= 200 && gtk_widget_get_height(image) >= 120
            }
            let pointer = UnsafeMutableRawPointer(button.widget).assumingMemoryBound(to: GtkButton.self)
            for text in ["New", "Newer"] {
                gtk_button_set_label(pointer, text)
                for _ in 0..<5 { await run.pump() }
                run.check(gtk_widget_get_mapped(image) != 0, "the image is gone")
                let label = gtk_widget_get_next_sibling(image)
                run.equal(label.map { String(cString: gtk_label_get_text(OpaquePointer($0))) }, text)
                run.check(gtk_widget_get_next_sibling(label) == nil, "the old label is there, too")
            }
        },
    ]

    /// The first column and row with anything in them, and the ones after the last.
    private static func box(_ pixels: PixelBuffer) -> [Int] {
        let columns = (0..<pixels.width).filter { x in (0..<pixels.height).contains { pixels[x, $0].w > 0 } }
        let rows = (0..<pixels.height).filter { y in (0..<pixels.width).contains { pixels[$0, y].w > 0 } }
        guard let left = columns.first, let top = rows.first, let right = columns.last, let bottom = rows.last else {
            return []
        }
        return [left, top, right + 1, bottom + 1]
    }

    /// The bytes by which the process grows with a thousand widgets, drawn.
    private static func grown(_ run: GTKTestRun, _ make: () -> WidgetPointer) async throws -> Int {
        let before = residentBytes()
        let area = gtk_fixed_new()!
        for index in 0..<1_000 {
            let widget = make()
            gtk_widget_set_size_request(widget, 8, 6)
            gtk_fixed_put(
                UnsafeMutableRawPointer(area).assumingMemoryBound(to: GtkFixed.self), widget, Double(index % 40 * 8),
                Double(index / 40 * 6))
        }
        await run.show(area, width: 320, height: 150)
        await run.wait("loads end") { !run.manager.hasActiveLoads }
        for _ in 0..<10 { await run.pump() }
        return residentBytes() - before
    }

    private static func residentBytes() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var text = [CChar](repeating: 0, count: 200)
        guard fgets(&text, 200, file) != nil else { return 0 }
        let fields = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(
            separator: " ")
        return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(getpagesize())
    }
}
#endif
