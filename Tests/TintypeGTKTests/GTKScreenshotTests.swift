#if GTK
import CGTK
import Tintype
import TintypeTesting

@testable import TintypeGTK

/// Widgets compared pixel by pixel with pictures that the tests draw.
@MainActor
enum GTKScreenshotTests {
    static let all = [
        GTKTest("The placeholder, the image, and the failure image appear with every pixel", .capability("VEW-09")) {
            run in
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            let (placeholder, image, failure) = (
                run.pattern(1, for: picture.widget), run.pattern(2, for: picture.widget),
                run.pattern(3, for: picture.widget)
            )
            let gate = OriginGate()
            run.loader.answer(run.url("image"), with: .data(try image.encoded(as: .png)).waiting(at: gate))
            let load = picture.setImage(run.url("image"), placeholder: placeholder)
            await run.waitForPixels(picture.widget, placeholder.pixels, "the placeholder")
            gate.open()
            _ = try await load.result.get()
            await run.waitForPixels(picture.widget, image.pixels, "the image")
            _ = await picture.setImage(run.url("missing"), failureImage: failure).result
            await run.waitForPixels(picture.widget, failure.pixels, "the failure image")
        },
        GTKTest("Previews, and then the whole image, appear with every pixel") { run in
            let sample = try SampleImages.draw(.interlacedFlower, scale: 0.2)
            let half = sample.data.count / 2
            let gate = OriginGate()
            run.loader.answer(
                run.url("flower"),
                with: .chunks([sample.data.prefix(half), sample.data.dropFirst(half)].map { Data($0) }, gate: gate))
            let whole = try Image(data: sample.data, coders: .default)
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget, width: Int32(whole.size.width), height: Int32(whole.size.height))
            var preview: Image?
            let load = picture.setImage(ImageRequest(run.url("flower"), isProgressive: true)) { event in
                if case .preview(let image) = event { preview = image }
            }
            gate.open()
            await run.wait("a preview") { preview != nil }
            if let preview { await run.waitForPixels(picture.widget, preview.pixels, "the preview") }
            gate.open()
            _ = try await load.result.get()
            await run.waitForPixels(picture.widget, whole.pixels, "the whole image")
        },
        GTKTest("A quarter of a cross-fade is a quarter of the new image in every pixel", .capability("TRN-01")) {
            run in
            WidgetState.usesFrameClock = false
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            let (old, new) = (run.pattern(1, for: picture.widget), run.pattern(2, for: picture.widget))
            run.loader.answer(run.url("new"), with: .data(try new.encoded(as: .png)))
            let load = picture.setImage(
                run.url("new"), placeholder: old, transition: ImageTransition(.crossDissolve, duration: .seconds(1)))
            _ = try await load.result.get()
            _ = picture.state.advance(to: .seconds(10))
            await run.waitForPixels(picture.widget, old.pixels, "the beginning")
            _ = picture.state.advance(to: .seconds(10.25))
            // The speed of a transition isn't constant.
            let fraction = ImageTransition(.crossDissolve, duration: .seconds(1)).fraction(after: .seconds(0.25))
            await run.waitForPixels(
                picture.widget, Paint.mix(old.pixels, new.pixels, fraction), tolerance: 3, "a part of the way")
            _ = picture.state.advance(to: .seconds(11))
            await run.waitForPixels(picture.widget, new.pixels, "the end")
        },
        GTKTest("An animation shows every pixel of each frame at its time", .capability("AIV-02")) { run in
            WidgetState.usesFrameClock = false
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            let patterns = (1...3).map { run.pattern($0, for: picture.widget).pixels }
            let frames = patterns.map { ImageFrame(pixels: $0, duration: .milliseconds(100)) }
            run.loader.answer(run.url("moving"), with: .data(try Image(frames: frames)!.encoded(as: .png)))
            _ = try await picture.setImage(run.url("moving")).result.get()
            await run.wait("the animation is open") { picture.player != nil }
            for (index, pattern) in patterns.enumerated() {
                await run.wait("frame \(index)") {
                    _ = picture.state.advance(to: .milliseconds(100 * index + 10))
                    return picture.player?.currentFrame?.index == index
                }
                await run.waitForPixels(picture.widget, pattern, "frame \(index)")
            }
        },
        GTKTest("A button shows every pixel of the image and the background of its state", .capability("VEW-20")) {
            run in
            let button = TintypeButton(manager: run.manager)
            await run.show(button.widget, width: 120, height: 90)
            let size = PixelSize(width: 32, height: 24)
            let images: [TintypeButton.State: Image] = [
                .normal: Paint.pattern(1, size), .hover: Paint.pattern(2, size), .disabled: Paint.pattern(3, size),
            ]
            for (state, image) in images {
                run.loader.answer(run.url(state.rawValue), with: .data(try image.encoded(as: .png)))
                _ = try await button.setImage(run.url(state.rawValue), for: state).result.get()
            }
            run.loader.answer(run.url("gray"), with: .data(Paint.png(Paint.gray)))
            _ = try await button.setBackgroundImage(run.url("gray"), for: .normal).result.get()
            let expectedBackground = Paint.buffer(Paint.gray)
            for (state, flag) in [
                (TintypeButton.State.normal, GTK_STATE_FLAG_NORMAL), (.hover, GTK_STATE_FLAG_PRELIGHT),
                (.pressed, GTK_STATE_FLAG_ACTIVE), (.disabled, GTK_STATE_FLAG_INSENSITIVE),
            ] {
                gtk_widget_set_sensitive(button.widget, state == .disabled ? 0 : 1)
                if state != .disabled { gtk_widget_set_state_flags(button.widget, flag, 1) }
                // As the widget draws them, without the theme's frame around them.
                for (slotPaintable, expected) in [
                    (button.state.slotPaintables[0], images[state] ?? images[.normal]),
                    (button.state.slotPaintables[1], Image(pixels: expectedBackground)),
                ] {
                    let drawn = slotPaintable.paintable.flatMap { paintable in
                        expected.flatMap {
                            WidgetCapture.image(
                                of: paintable, width: $0.size.width, height: $0.size.height, in: button.widget)
                        }
                    }
                    run.check(drawn?.pixels == expected?.pixels, "the state \(state) is drawn differently")
                }
            }
        },
    ]
}

extension GTKTestRun {
    /// A pattern that has the size of a widget, so that nothing is scaled.
    func pattern(_ number: Int, for widget: WidgetPointer) -> Image {
        Paint.pattern(
            number, PixelSize(width: Int(gtk_widget_get_width(widget)), height: Int(gtk_widget_get_height(widget))))
    }

    /// Waits until a widget is drawn with the pixels that are expected.
    func waitForPixels(
        _ widget: WidgetPointer, _ expected: PixelBuffer, tolerance: Int = 0, _ subject: String, line: Int = #line
    ) async {
        var drawn: PixelBuffer?
        let start = ContinuousClock.now
        repeat {
            await pump()
            drawn = WidgetCapture.image(of: widget)?.pixels
            if let drawn, drawn.size == expected.size, Paint.isNear(drawn, expected, atX: 0, y: 0, tolerance: tolerance)
            {
                return
            }
            gtk_widget_queue_draw(widget)
        } while ContinuousClock.now - start < .seconds(120)
        check(false, "\(subject): \(drawn.map { Paint.difference($0, expected) } ?? "nothing is drawn")", line: line)
    }
}

extension Paint {
    /// Opaque blocks of 4 × 4 pixels in colors that depend on the number.
    static func pattern(_ number: Int, _ size: PixelSize) -> Image {
        var pixels = try! MutablePixelBuffer(size: size)
        let bytesPerRow = pixels.bytesPerRow
        pixels.withUnsafeMutableBytes { memory in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let hash = UInt32(truncatingIfNeeded: (y / 4 * 1_000 + x / 4) * 8 + number) &* 2_654_435_761
                    memory.storeBytes(
                        of: hash >> 8 | 0xFF00_0000, toByteOffset: y * bytesPerRow + x * 4, as: UInt32.self)
                }
            }
        }
        return Image(pixels: pixels.freeze())
    }

    /// A part of the second picture over the first one.
    static func mix(_ first: PixelBuffer, _ second: PixelBuffer, _ fraction: Double) -> PixelBuffer {
        var pixels = try! MutablePixelBuffer(size: first.size)
        let bytesPerRow = pixels.bytesPerRow
        pixels.withUnsafeMutableBytes { memory in
            for y in 0..<first.height {
                for x in 0..<first.width {
                    let (a, b) = (first[x, y], second[x, y])
                    var color = SIMD4<UInt8>()
                    for channel in 0..<4 {
                        let value = Double(a[channel]) * (1 - fraction) + Double(b[channel]) * fraction
                        color[channel] = UInt8(value.rounded())
                    }
                    memory.storeBytes(of: color, toByteOffset: y * bytesPerRow + x * 4, as: SIMD4<UInt8>.self)
                }
            }
        }
        return pixels.freeze()
    }

    /// True if a picture is in another one, with its corner at a place.
    static func isNear(
        _ drawn: PixelBuffer, _ expected: PixelBuffer, atX left: Int, y top: Int, tolerance: Int
    ) -> Bool {
        guard drawn.width >= left + expected.width, drawn.height >= top + expected.height else { return false }
        for y in 0..<expected.height {
            for x in 0..<expected.width
            where !isNear(drawn[left + x, top + y], expected[x, y], tolerance: tolerance) { return false }
        }
        return true
    }

    /// Describes the difference of two pictures.
    static func difference(_ drawn: PixelBuffer, _ expected: PixelBuffer) -> String {
        guard drawn.size == expected.size else { return "\(drawn.size) is not \(expected.size)" }
        var (count, first) = (0, "")
        for y in 0..<drawn.height {
            for x in 0..<drawn.width where !isNear(drawn[x, y], expected[x, y]) {
                if count == 0 { first = "\(drawn[x, y]) is not \(expected[x, y]) at \(x), \(y)" }
                count += 1
            }
        }
        return "\(count) pixels differ: \(first)"
    }
}
#endif
