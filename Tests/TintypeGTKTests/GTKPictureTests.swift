#if GTK
import CGTK
import Tintype
import TintypeTesting

@testable import TintypeGTK

@MainActor
enum GTKPictureTests {
    static let all = [
        GTKTest("A picture shows the placeholder, then a spinner over it, then the image", .capability("IND-04")) {
            run in
            let gate = OriginGate()
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red)).waiting(at: gate))
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            WidgetState.usesFrameClock = false
            let load = picture.setImage(run.url("red"), placeholder: Paint.image(Paint.blue), indicator: .spinner)
            let slotPaintable = picture.state.slotPaintables[0]
            run.equal(run.color(slotPaintable, in: picture.widget, x: 0.05, y: 0.05), Paint.blue)
            _ = picture.state.advance(to: .milliseconds(0))
            // The brightest spoke points up.
            let spoke = run.color(slotPaintable, in: picture.widget, x: 0.5, y: 0.2)
            run.check(Paint.isNear(spoke, Paint.gray, tolerance: 40), "no spinner: \(spoke as Any)")
            gate.open()
            _ = try await load.result.get()
            run.equal(run.color(slotPaintable, in: picture.widget), Paint.red)
            // In memory now: shown at once.
            picture.setImage(nil as URL?)
            run.equal(run.color(slotPaintable, in: picture.widget)?.w, 0)
            picture.setImage(run.url("red"), placeholder: Paint.image(Paint.blue))
            run.equal(run.color(slotPaintable, in: picture.widget), Paint.red)
        },
        GTKTest("The widget draws the image") { run in
            run.loader.answer(run.url("green"), with: .data(Paint.png(Paint.green)))
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            _ = try await picture.setImage(run.url("green")).result.get()
            var image: Image?
            await run.wait("the widget is drawn") {
                image = WidgetCapture.image(of: picture.widget)
                guard let image else { return false }
                return image.pixels[image.size.width / 2, image.size.height / 2] == Paint.green
            }
        },
        GTKTest("A failed load shows the failure image") { run in
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            let load = picture.setImage(run.url("missing"), failureImage: Paint.image(Paint.red))
            if case .success = await load.result { run.check(false, "there is an image") }
            run.equal(run.color(picture.state.slotPaintables[0], in: picture.widget), Paint.red)
        },
        GTKTest("Previews are shown while bytes arrive") { run in
            let gate = OriginGate()
            let data = try SampleImages.draw(.interlacedFlower, scale: 0.3).data
            let half = data.count / 2
            run.loader.answer(
                run.url("flower"),
                with: .chunks([data.prefix(half), data.dropFirst(half)].map { Data($0) }, gate: gate))
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            let load = picture.setImage(ImageRequest(run.url("flower"), isProgressive: true))
            gate.open()
            await run.wait("a preview") { picture.state.slotPaintables[0].shown?.texture != nil }
            run.check(load.end == nil, "the load has ended")
            gate.open()
            run.equal(try await load.result.get().image.isPartial, false)
        },
        GTKTest("A cross-fade is half of both images at half of its time, and a slide has one beside the other") {
            run in
            WidgetState.usesFrameClock = false
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            let slotPaintable = picture.state.slotPaintables[0]
            for (name, transition) in [
                ("a", ImageTransition.crossDissolve(1)), ("b", ImageTransition.slide(from: .right, 1)),
            ] {
                run.loader.answer(run.url(name), with: .data(Paint.png(Paint.blue)))
                var isFinished = false
                var transition = transition
                transition.completion = { isFinished = $0 }
                let load = picture.setImage(
                    run.url(name), placeholder: Paint.image(Paint.red), transition: transition)
                _ = try await load.result.get()
                _ = picture.state.advance(to: .seconds(10))
                run.equal(run.color(slotPaintable, in: picture.widget), Paint.red)
                _ = picture.state.advance(to: .seconds(10.5))
                if name == "a" {
                    let middle = run.color(slotPaintable, in: picture.widget)
                    run.check(Paint.isNear(middle, SIMD4(128, 0, 128, 255)), "\(middle as Any)")
                } else {
                    run.equal(run.color(slotPaintable, in: picture.widget, x: 0.25), Paint.red)
                    run.equal(run.color(slotPaintable, in: picture.widget, x: 0.75), Paint.blue)
                }
                run.check(!isFinished, "finished too early")
                _ = picture.state.advance(to: .seconds(11))
                run.check(isFinished, "not finished")
                run.equal(run.color(slotPaintable, in: picture.widget), Paint.blue)
            }
        },
        GTKTest("A transition that nobody sees ends at once, and so does the load that waits for it") { run in
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red)))
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            picture.state.isInViewport = false
            let load = picture.setImage(run.url("red"), display: .waitTransition, transition: .crossDissolve(3_600))
            _ = try await load.result.get()
            run.equal(run.color(picture.state.slotPaintables[0], in: picture.widget), Paint.red)
        },
        GTKTest("A progress bar fills with the bytes") { run in
            let gate = OriginGate()
            let data = Paint.png(Paint.red)
            run.loader.answer(
                run.url("bar"),
                with: .chunks(
                    [data.prefix(data.count / 2), data.dropFirst(data.count / 2)].map { Data($0) }, gate: gate))
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            WidgetState.usesFrameClock = false
            let load = picture.setImage(run.url("bar"), indicator: .progress)
            gate.open()
            await run.wait("half of the bytes") { (load.fraction ?? 0) > 0.4 }
            let slotPaintable = picture.state.slotPaintables[0]
            let (filled, empty) = (
                run.color(slotPaintable, in: picture.widget, x: 0.3),
                run.color(slotPaintable, in: picture.widget, x: 0.75)
            )
            run.check(Paint.isNear(filled, SIMD4(54, 133, 227, 255), tolerance: 4), "\(filled as Any)")
            run.check((empty?.w ?? 255) < 128, "\(empty as Any)")
            gate.open()
            _ = await load.result
        },
        GTKTest("Images are decoded at the pixels of the screen, and shown without a copy") { run in
            run.loader.answer(run.url("large"), with: .data(Paint.png(Paint.red, width: 400, height: 200)))
            let picture = TintypePicture(manager: run.manager)
            picture.decodeSize = PixelSize(width: 50, height: 50)
            await run.show(picture.widget)
            let image = try await picture.setImage(run.url("large")).result.get().image
            let scale = Int(picture.state.scaleFactor)
            run.equal(image.size, PixelSize(width: 50 * scale, height: 25 * scale))
            let paintable = picture.state.slotPaintables[0].paintable
            run.equal(gdk_paintable_get_intrinsic_width(paintable), 50)
            run.equal(gdk_paintable_get_intrinsic_height(paintable), 25)
        },
        GTKTest("The widgets of the program are wrapped, and share their images", .capability("VEW-18")) { run in
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red)))
            for widget in [gtk_image_new()!, gtk_picture_new()!] {
                let picture = TintypePicture(wrapping: widget, manager: run.manager)
                await run.show(widget)
                _ = try await picture.setImage(run.url("red")).result.get()
                let other = TintypePicture(wrapping: widget)
                run.check(other.state === picture.state, "two states")
                run.equal(other.imageURL(), run.url("red"))
                run.equal(run.color(other.state.slotPaintables[0], in: widget), Paint.red)
            }
        },
        GTKTest(
            "Pictures that wrap the same widget share its highlight and its alternative text",
            .capability("VEW-18", "VEW-19")
        ) { run in
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            picture.isHighlighted = true
            picture.alternativeText = "A red square"
            let other = TintypePicture(wrapping: picture.widget)
            run.equal(other.isHighlighted, true)
            run.equal(other.alternativeText, "A red square")
            other.isHighlighted = false
            other.alternativeText = nil
            run.equal(picture.isHighlighted, false)
            run.equal(picture.alternativeText, nil)
        },
        GTKTest("A highlighted picture shows its other image", .capability("VEW-19")) { run in
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red)))
            run.loader.answer(run.url("blue"), with: .data(Paint.png(Paint.blue)))
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            _ = await picture.setImage(run.url("red")).result
            _ = await picture.setImage(run.url("blue"), in: .highlighted).result
            let slotPaintable = picture.state.slotPaintables[0]
            run.equal(run.color(slotPaintable, in: picture.widget), Paint.red)
            picture.isHighlighted = true
            run.equal(run.color(slotPaintable, in: picture.widget), Paint.blue)
        },
        GTKTest("A hidden widget loads nothing until it is shown again, and a destroyed one ends its loads") { run in
            let gate = OriginGate()
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red)).waiting(at: gate))
            let live = WidgetState.liveCount
            var load: DisplayLoad?
            var ends = 0
            do {
                let picture = TintypePicture(manager: run.manager)
                await run.show(picture.widget)
                load = picture.setImage(run.url("red")) { event in if case .finished = event { ends += 1 } }
                try await gate.waitForArrivals(1)
                gtk_widget_set_visible(picture.widget, 0)
                await run.wait("the load is suspended") { !run.manager.hasActiveLoads }
                run.equal(ends, 0)
                gtk_widget_set_visible(picture.widget, 1)
                try await gate.waitForArrivals(2)
            }
            await run.close()
            await run.wait("the load ends") { !run.manager.hasActiveLoads }
            run.equal(ends, 1)
            if case .failure(let error)? = load?.end { run.equal(error.code, .cancelled) }
            await run.wait("the widget is gone") { WidgetState.liveCount == live }
        },
    ]
}
#endif
