#if GTK
import CGTK
import Tintype
import TintypeTesting

@testable import TintypeGTK

/// What widgets show in place of images, and what they tell.
@MainActor
enum GTKContentTests {
    static let all = [
        GTKTest("An icon, a paintable, or a widget stands in until there is an image", .capability("VEW-09", "IND-04"))
        {
            run in
            let gate = OriginGate()
            guard let texture = Texture.of(Paint.buffer(Paint.green, width: 10, height: 10)) else {
                return run.check(false, "no texture")
            }
            for (number, content) in [
                WidgetContent.icon("image-x-generic-symbolic"), .paintable(texture.pointer),
                .widget(gtk_label_new("None")),
            ].enumerated() {
                run.loader.answer(run.url("red\(number)"), with: .data(Paint.png(Paint.red)).waiting(at: gate))
                let picture = TintypePicture(manager: run.manager)
                picture.placeholder = content
                await run.show(picture.widget)
                @MainActor func child() -> WidgetPointer? { gtk_widget_get_first_child(picture.widget) }
                run.check(child() != nil, "nothing stands in for an image that nobody asked for")
                let load = picture.setImage(run.url("red\(number)"))
                await run.wait("it is laid out") { child().map { gtk_widget_get_width($0) > 0 } == true }
                if number == 1 {
                    await run.wait("it is drawn at its own size, in the middle") {
                        guard let pixels = WidgetCapture.image(of: picture.widget)?.pixels else { return false }
                        let (x, y) = (pixels.width / 2, pixels.height / 2)
                        return pixels[x, y] == Paint.green && pixels[x - 7, y].w == 0 && pixels[x, y + 7].w == 0
                    }
                }
                gate.open()
                _ = try await load.result.get()
                run.check(child() == nil, "it stays above the image")
                picture.setImage(nil as URL?)
                run.check(child() != nil, "it doesn't come back")
            }
        },
        GTKTest(
            "A failure has a tooltip with the reason, and a button that loads the image again", .capability("VEW-23")
        ) {
            run in
            let picture = TintypePicture(manager: run.manager)
            picture.failure = .retryButton()
            await run.show(picture.widget)
            guard case .failure(let error) = await picture.setImage(run.url("red")).result else {
                return run.check(false, "there is an image")
            }
            @MainActor func tooltip(_ widget: WidgetPointer?) -> String? {
                gtk_widget_get_tooltip_text(widget).map { String(cString: $0) }
            }
            guard let button = gtk_widget_get_first_child(picture.widget) else { return run.check(false, "no button") }
            run.equal(tooltip(picture.widget), error.reason)
            run.equal(tooltip(button), error.reason)
            await run.wait("the button is laid out") { gtk_widget_get_width(button) > 0 }
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red)))
            gtk_widget_activate(button)
            await run.wait("the image is there") {
                run.color(picture.state.slotPaintables[0], in: picture.widget) == Paint.red
            }
            run.equal(tooltip(picture.widget), nil)
            run.check(gtk_widget_get_first_child(picture.widget) == nil, "the button stays")
            // A tooltip of the program stays.
            gtk_widget_set_tooltip_text(picture.widget, "Portrait")
            _ = await picture.setImage(run.url("missing")).result
            run.equal(tooltip(picture.widget), "Portrait")
            // So does one that it sets in place of a reason.
            gtk_widget_set_tooltip_text(picture.widget, nil)
            _ = await picture.setImage(run.url("missing")).result
            run.check(tooltip(picture.widget) != nil, "no reason")
            gtk_widget_set_tooltip_text(picture.widget, "Landscape")
            _ = await picture.setImage(run.url("red")).result
            run.equal(tooltip(picture.widget), "Landscape")
        },
        GTKTest(
            "A program's widget is the indicator: a spinner spins, and a bar fills", .capability("IND-04", "IND-02")
        ) {
            run in
            let data = Paint.png(Paint.red)
            let parts = [data.prefix(data.count / 2), data.dropFirst(data.count / 2)].map { Data($0) }
            for (name, widget) in [("spinner", gtk_spinner_new()!), ("bar", gtk_progress_bar_new()!)] {
                let gate = OriginGate()
                run.loader.answer(run.url(name), with: .chunks(parts, gate: gate))
                let picture = TintypePicture(manager: run.manager)
                picture.indicator = .widget(widget)
                await run.show(picture.widget)
                let load = picture.setImage(run.url(name), indicator: .progress)
                run.check(gtk_widget_get_parent(widget) == picture.widget, "\(name): not shown")
                if name == "spinner" {
                    run.check(gtk_spinner_get_spinning(OpaquePointer(widget)) != 0, "it stands still")
                }
                gate.open()
                await run.wait("half of the bytes") { (load.fraction ?? 0) > 0.4 }
                if name == "bar" {
                    let fraction = gtk_progress_bar_get_fraction(OpaquePointer(widget))
                    run.check(fraction > 0.4 && fraction < 0.6, "\(fraction)")
                }
                gate.open()
                _ = try await load.result.get()
                run.check(gtk_widget_get_parent(widget) == nil, "\(name): still there")
            }
        },
        GTKTest("An indicator that is set during a load takes the place of the one before", .capability("IND-04")) {
            run in
            let gate = OriginGate()
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red)).waiting(at: gate))
            let spinners = (0..<2).map { _ in gtk_spinner_new()! }
            for spinner in spinners { g_object_ref_sink(UnsafeMutableRawPointer(spinner)) }
            defer { for spinner in spinners { g_object_unref(UnsafeMutableRawPointer(spinner)) } }
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            let load = picture.setImage(run.url("red"), indicator: .spinner)
            let content = picture.state.slotPaintables[0].content(of: .image)
            run.equal(content.indicator?.isActive, true)
            @MainActor func shown() -> [Bool] {
                spinners.map {
                    let isShown = gtk_widget_get_parent($0) == picture.widget
                    run.equal(gtk_spinner_get_spinning(OpaquePointer($0)) != 0, isShown)
                    return isShown
                }
            }
            for (indicator, expected) in [
                (WidgetContent.widget(spinners[0]), [true, false]), (.widget(spinners[1]), [false, true]),
            ] {
                picture.indicator = indicator
                run.equal(shown(), expected)
                run.equal(content.indicator?.isActive, false)
            }
            picture.indicator = nil
            run.equal(shown(), [false, false])
            run.equal(content.indicator?.isActive, true)
            gate.open()
            _ = try await load.result.get()
            run.equal(content.indicator?.isActive, false)
            picture.indicator = .widget(spinners[0])
            run.equal(shown(), [false, false])
        },
        GTKTest("A widget with content above its image goes away without a trace") { run in
            let live = WidgetState.liveCount
            do {
                for content in [WidgetContent.icon("image-missing-symbolic"), .widget(gtk_label_new("None"))] {
                    let (picture, button) = (TintypePicture(manager: run.manager), TintypeButton(manager: run.manager))
                    picture.placeholder = content
                    button.failure = .retryButton()
                    await run.show(picture.widget)
                    await run.show(button.widget)
                    _ = await button.setImage(run.url("missing"), for: .normal).result
                }
            }
            await run.close()
            await run.wait("the widgets are gone") { WidgetState.liveCount == live }
        },
        GTKTest("One closure is told when a load begins, has progress, and ends", .capability("VEW-23")) { run in
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red)))
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            var phases: [String] = []
            picture.onPhaseChange = { slot, phase in
                switch phase {
                case .empty: phases.append("empty")
                case .loading: if phases.last != "loading" { phases.append("loading") }
                case .image: phases.append("image")
                case .failure(let error): phases.append("\(error.code)")
                }
                run.equal(slot, .image)
            }
            _ = try await picture.setImage(run.url("red")).result.get()
            run.equal(phases, ["loading", "image"])
            // In memory: there is nothing to wait for.
            _ = try await picture.setImage(run.url("red")).result.get()
            run.equal(phases, ["loading", "image", "image"])
            _ = await picture.setImage(run.url("missing")).result
            picture.imageBinding.prepareForReuse()
            run.equal(phases.count, 6)
            run.equal(phases.last, "empty")
        },
        GTKTest("Screen readers are told the text of an image, and that it is loading") { run in
            let gate = OriginGate()
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red)).waiting(at: gate))
            let picture = TintypePicture(manager: run.manager)
            picture.alternativeText = "A red square"
            await run.show(picture.widget)
            let text = gtk_picture_get_alternative_text(OpaquePointer(picture.widget)).map { String(cString: $0) }
            run.equal(text, "A red square")
            let accessible = OpaquePointer(picture.widget)
            run.check(gtk_test_accessible_has_property(accessible, GTK_ACCESSIBLE_PROPERTY_LABEL) != 0, "no label")
            let load = picture.setImage(run.url("red"))
            run.equal(picture.state.isBusy, true)
            run.check(gtk_test_accessible_has_state(accessible, GTK_ACCESSIBLE_STATE_BUSY) != 0, "not busy")
            gate.open()
            _ = try await load.result.get()
            run.equal(picture.state.isBusy, false)
            // A load that may go on when it was replaced doesn't count.
            run.loader.answer(run.url("green"), with: .data(Paint.png(Paint.green)).waiting(at: gate))
            run.loader.answer(run.url("blue"), with: .data(Paint.png(Paint.blue)))
            let old = picture.setImage(run.url("green"))
            run.equal(picture.state.isBusy, true)
            _ = try await picture.setImage(run.url("blue"), display: .avoidAutoCancelImage).result.get()
            run.equal(picture.state.isBusy, false)
            gate.open()
            _ = try await old.result.get()
            run.equal(picture.state.isBusy, false)
        },
        GTKTest("The settings of animations belong to the widget", .capability("AIV-02", "AIV-03", "AIV-10")) { run in
            for name in ["one", "two"] { run.loader.answer(run.url(name), with: .data(Paint.animation())) }
            let picture = TintypePicture(manager: run.manager)
            picture.playback.rate = 2
            picture.playback.loopCount = 3
            picture.playback.isAutomatic = false
            await run.show(picture.widget)
            for name in ["one", "two"] {
                _ = try await picture.setImage(run.url(name)).result.get()
                run.equal(picture.player?.rate, 2)
                run.equal(picture.player?.loopCount, 3)
                run.equal(picture.player?.isPlaying, false)
                run.equal(run.color(picture.state.slotPaintables[0], in: picture.widget), Paint.red)
            }
            picture.playback.mode = .reverse
            picture.playback.loopCount = nil
            run.equal(picture.player?.mode, .reverse)
            run.equal(picture.player?.loopCount, picture.player?.image.loopCount)
            picture.playback.mode = .normal
            picture.playback.isAutomatic = true
            run.equal(picture.player?.isPlaying, false)
            picture.player?.play()
            picture.playback.isAutomatic = false
            run.equal(picture.player?.isPlaying, true)
            await run.wait("another pass") { (picture.player?.completedLoops ?? 0) >= 1 }
        },
        GTKTest("An avatar shows the initials of a name until there is an image, and is round") { run in
            for (name, initials) in [
                ("Ada Lovelace", "AL"), ("ada", "A"), ("  Émile  du Châtelet ", "ÉC"), ("", ""), ("李 白", "李白"),
            ] { run.equal(TintypeAvatar.initials(of: name), initials) }
            run.loader.answer(run.url("wide"), with: .data(Paint.png(Paint.red, width: 200, height: 100)))
            let avatar = TintypeAvatar(name: "Ada Lovelace", size: 40, manager: run.manager)
            await run.show(avatar.widget)
            @MainActor func label() -> String? {
                guard let child = gtk_widget_get_first_child(avatar.widget),
                    GObjects.isA(child, gtk_label_get_type())
                else { return nil }
                return String(cString: gtk_label_get_text(OpaquePointer(child)))
            }
            run.equal(label(), "AL")
            avatar.name = "Mary Somerville"
            run.equal(label(), "MS")
            let text = gtk_picture_get_alternative_text(OpaquePointer(avatar.widget)).map { String(cString: $0) }
            run.equal(text, "Mary Somerville")
            _ = await avatar.setImage(run.url("missing")).result
            run.equal(label(), "MS")
            _ = try await avatar.setImage(run.url("wide")).result.get()
            run.equal(label(), nil)
            await run.wait("it is drawn round") {
                guard let pixels = WidgetCapture.image(of: avatar.widget)?.pixels else { return false }
                return pixels.width == 40 && pixels.height == 40 && Paint.isNear(pixels[20, 20], Paint.red)
                    && pixels[1, 1].w == 0 && pixels[38, 38].w == 0 && pixels[3, 20].w == 255
            }
        },
        GTKTest("The border of an avatar is above its initials and its image") { run in
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red)))
            let avatar = TintypeAvatar(name: "Ada Lovelace", size: 40, manager: run.manager)
            await run.show(avatar.widget)
            for name in ["initials", "image"] {
                if name == "image" { _ = try await avatar.setImage(run.url("red")).result.get() }
                await run.wait("the border above the \(name)") {
                    guard let pixels = WidgetCapture.image(of: avatar.widget)?.pixels, pixels[4, 20].w == 255,
                        Paint.isNear(pixels[4, 20], Paint.red) == (name == "image")
                    else { return false }
                    // At all four sides, a line of one pixel.
                    return [(0, 20, 2, 20), (39, 20, 37, 20), (20, 0, 20, 2), (20, 39, 20, 37)].allSatisfy {
                        !Paint.isNear(pixels[$0.0, $0.1], pixels[$0.2, $0.3], tolerance: 4)
                            && Paint.isNear(pixels[$0.2, $0.3], pixels[4, 20])
                    }
                }
            }
        },
    ]
}
#endif
