#if GTK
import CGTK
import Tintype
import TintypeTesting

@testable import TintypeGTK

@MainActor
enum GTKAnimationTests {
    static let all = [
        GTKTest("An animation shows the frame of each moment", .capability("AIV-02", "AIV-10", "AIV-13")) { run in
            run.loader.answer(run.url("moving"), with: .data(Paint.animation()))
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            WidgetState.usesFrameClock = false
            _ = try await picture.setImage(run.url("moving")).result.get()
            await run.wait("the animation is open") { picture.player != nil }
            for (milliseconds, color) in [(0, Paint.red), (110, Paint.green), (210, Paint.blue), (310, Paint.red)] {
                await run.wait("the frame at \(milliseconds) ms") {
                    _ = picture.state.advance(to: .milliseconds(milliseconds))
                    return run.color(picture.state.slotPaintables[0], in: picture.widget) == color
                }
            }
        },
        GTKTest("The speed and the mode of a widget decide which frame is drawn when", .capability("AIV-03")) { run in
            run.loader.answer(run.url("moving"), with: .data(Paint.animation()))
            var (fast, bouncing, backward) = (PlaybackSettings(), PlaybackSettings(), PlaybackSettings())
            fast.rate = 2
            (bouncing.mode, backward.mode) = (.bounce, .reverse)
            for (settings, colors) in [
                (fast, [(0, Paint.red), (60, Paint.green), (110, Paint.blue), (160, Paint.red)]),
                (bouncing, [(0, Paint.red), (210, Paint.blue), (310, Paint.green), (410, Paint.red)]),
                (backward, [(0, Paint.blue), (110, Paint.green), (210, Paint.red), (310, Paint.blue)]),
            ] {
                let picture = TintypePicture(manager: run.manager)
                picture.playback = settings
                await run.show(picture.widget)
                WidgetState.usesFrameClock = false
                _ = try await picture.setImage(run.url("moving")).result.get()
                await run.wait("the animation is open") { picture.player != nil }
                for (milliseconds, color) in colors {
                    await run.wait("\(settings.mode), \(settings.rate): the frame at \(milliseconds) ms") {
                        _ = picture.state.advance(to: .milliseconds(milliseconds))
                        return run.color(picture.state.slotPaintables[0], in: picture.widget) == color
                    }
                }
            }
        },
        GTKTest("An animation plays while it is being loaded, and goes on when the rest arrives", .capability("AIV-05"))
        {
            run in
            let (data, gate) = (Paint.animation(), OriginGate())
            // The third frame is cut.
            let cut = data.count - 20
            run.loader.answer(
                run.url("moving"), with: .chunks([data.prefix(cut), data.dropFirst(cut)], gate: gate))
            gate.open()
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            WidgetState.usesFrameClock = false
            let load = picture.setImage(ImageRequest(run.url("moving"), isProgressive: true))
            @MainActor func show(_ color: SIMD4<UInt8>, at milliseconds: Int) async {
                await run.wait("the frame at \(milliseconds) ms") {
                    _ = picture.state.advance(to: .milliseconds(milliseconds))
                    return run.color(picture.state.slotPaintables[0], in: picture.widget) == color
                }
            }
            await run.wait("the first frames are there") { picture.player != nil }
            let player = picture.player
            for (milliseconds, color) in [(0, Paint.red), (110, Paint.green), (900, Paint.green)] {
                await show(color, at: milliseconds)
            }
            run.check(player?.image.isArriving == true && load.end == nil, "the load goes on")
            // Until more arrives, no frame of the screen is needed.
            if case .nothing = picture.state.advance(to: .milliseconds(950)) {} else { run.check(false, "it ticks") }
            gate.open()
            _ = try await load.result.get()
            for (milliseconds, color) in [(960, Paint.blue), (1_070, Paint.red)] { await show(color, at: milliseconds) }
            run.check(picture.player === player, "the player is another one")
        },
        GTKTest("A widget that is destroyed while its animation arrives leaves nothing behind", .capability("AIV-05")) {
            run in
            let (data, gate) = (Paint.animation(), OriginGate())
            let cut = data.count - 20
            run.loader.answer(
                run.url("moving"), with: .chunks([data.prefix(cut), data.dropFirst(cut)], gate: gate))
            gate.open()
            weak var image: AnimatedImage?
            let window = gtk_window_new()!
            do {
                let picture = TintypePicture(manager: run.manager)
                gtk_window_set_child(
                    UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self), picture.widget)
                gtk_window_present(UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self))
                picture.setImage(ImageRequest(run.url("moving"), isProgressive: true))
                await run.wait("the first frames are there") { picture.player != nil }
                image = picture.player?.image
            }
            gtk_window_destroy(UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self))
            await run.wait("the load ends") { run.loader.runningLoads == 0 }
            await run.wait("the animation goes") { image == nil }
        },
        GTKTest("The frame clock plays an animation while it is visible, and no longer", .capability("AIV-08")) { run in
            run.loader.answer(run.url("moving"), with: .data(Paint.animation()))
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            _ = try await picture.setImage(run.url("moving")).result.get()
            await run.wait("the second frame") { picture.player?.currentFrameIndex == 1 }
            gtk_widget_set_visible(picture.widget, 0)
            await run.wait("the pause") { picture.player?.isSuspended == true }
            gtk_widget_set_visible(picture.widget, 1)
            await run.wait("another pass") { (picture.player?.completedLoops ?? 0) >= 1 }
        },
        GTKTest("An animation that is scrolled out of sight stands still, and its loads have a low priority") { run in
            run.loader.answer(run.url("moving"), with: .data(Paint.animation()))
            let scrolled = gtk_scrolled_window_new()!
            let box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)!
            let row = UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self)
            let pictures = (0..<2).map { _ in TintypePicture(manager: run.manager) }
            for picture in pictures {
                gtk_widget_set_size_request(picture.widget, 50, 500)
                gtk_box_append(row, picture.widget)
            }
            gtk_scrolled_window_set_child(OpaquePointer(scrolled), box)
            await run.show(scrolled, width: 100, height: 100)
            for picture in pictures { _ = try await picture.setImage(run.url("moving")).result.get() }
            await run.wait("the first plays, the second doesn't") {
                pictures[0].player?.isSuspended == false && pictures[1].player?.isSuspended == true
            }
            run.equal(pictures.map(\.imageBinding.isVisible), [true, false])
            let adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled))
            gtk_adjustment_set_value(adjustment, 600)
            await run.wait("the second plays, the first doesn't") {
                pictures[1].player?.isSuspended == false && pictures[0].player?.isSuspended == true
            }
        },
        GTKTest("A player that the program pauses shows the next frame when it is told to go on, or to go elsewhere") {
            run in
            run.loader.answer(run.url("moving"), with: .data(Paint.animation()))
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            _ = try await picture.setImage(run.url("moving")).result.get()
            await run.wait("the animation is open") { picture.player?.currentFrame != nil }
            picture.player?.stop()
            await run.wait("the clock stands still") { !picture.state.isTicking }
            picture.player?.seek(toFrame: 2)
            await run.wait("the third frame") {
                run.color(picture.state.slotPaintables[0], in: picture.widget) == Paint.blue
            }
            await run.wait("the clock stands still again") { !picture.state.isTicking }
            picture.player?.play()
            await run.wait("another pass") { (picture.player?.completedLoops ?? 0) >= 1 }
        },
        GTKTest("A program's pause of an animation that is out of sight holds when it comes back") { run in
            run.loader.answer(run.url("moving"), with: .data(Paint.animation()))
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            _ = try await picture.setImage(run.url("moving")).result.get()
            await run.wait("the animation is open") { picture.player != nil }
            gtk_widget_set_visible(picture.widget, 0)
            await run.wait("out of sight") { picture.player?.isSuspended == true }
            run.equal(picture.player?.isPlaying, true)
            picture.player?.pause()
            gtk_widget_set_visible(picture.widget, 1)
            await run.wait("in sight") { picture.player?.isSuspended == false }
            run.equal(picture.player?.isPlaying, false)
        },
        GTKTest(
            "An avatar that is changed on the server and removed from the caches is the new one at the next call",
            .capability("CTX-22", "VEW-11")
        ) { run in
            func moving(_ color: SIMD4<UInt8>) -> Data {
                let frames = [color, Paint.gray].map { ImageFrame(pixels: Paint.buffer($0), duration: .seconds(9)) }
                return try! Image(frames: frames)!.encoded(as: .gif)
            }
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            WidgetState.usesFrameClock = false
            var number = 0
            for transformer in [nil, ImageTransformers.flip(horizontally: true)] {
                for data in [{ Paint.png($0) }, { moving($0) }] as [(SIMD4<UInt8>) -> Data] {
                    number += 1
                    let url = run.url("avatar\(number)")
                    var request = ImageRequest(url, transformer: transformer)
                    request.transformsAnimatedImages = true
                    run.loader.answer(url, with: .data(data(Paint.red)))
                    _ = try await picture.setImage(request).result.get()
                    run.check(
                        Paint.isNear(run.color(picture.state.slotPaintables[0], in: picture.widget), Paint.red),
                        "\(number): red"
                    )
                    run.loader.answer(url, with: .data(data(Paint.blue)))
                    _ = try await run.manager.removeCachedImage(for: request)
                    _ = try await run.manager.removeCachedImage(for: ImageRequest(url))
                    _ = try await picture.setImage(request).result.get()
                    run.check(
                        Paint.isNear(run.color(picture.state.slotPaintables[0], in: picture.widget), Paint.blue),
                        "\(number): blue")
                }
            }
        },
        GTKTest("Setting the image that a picture shows changes nothing: what moves goes on", .capability("AIV-01")) {
            run in
            run.loader.answer(run.url("moving"), with: .data(Paint.animation()))
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            WidgetState.usesFrameClock = false
            _ = try await picture.setImage(run.url("moving")).result.get()
            let player = picture.player
            _ = picture.state.advance(to: .zero)
            await run.wait("the second frame") {
                _ = picture.state.advance(to: .milliseconds(110))
                return run.color(picture.state.slotPaintables[0], in: picture.widget) == Paint.green
            }
            picture.setImage(run.url("moving"))
            run.check(player != nil && picture.player === player, "the player is another one")
            run.equal(run.color(picture.state.slotPaintables[0], in: picture.widget), Paint.green)
        },
        GTKTest(
            "A program may play an animation of its own, and show an image with a transition",
            .capability("AIV-02", "TRN-01")
        ) {
            run in
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            WidgetState.usesFrameClock = false
            let frames = [Paint.red, Paint.blue].map {
                ImageFrame(pixels: Paint.buffer($0), duration: .milliseconds(100))
            }
            picture.play(AnimatedImage(frames: frames)!, in: .image)
            _ = picture.state.advance(to: .zero)
            await run.wait("the second frame") {
                _ = picture.state.advance(to: .milliseconds(110))
                return run.color(picture.state.slotPaintables[0], in: picture.widget) == Paint.blue
            }
            var ends = 0
            let content = DisplayedImage(Paint.image(Paint.green), role: .image)
            picture.show(content, in: .image, with: .crossDissolve(0.2)) { _ in ends += 1 }
            run.equal(ends, 0)
            _ = picture.state.advance(to: .seconds(1))
            _ = picture.state.advance(to: .seconds(2))
            run.equal(ends, 1)
            run.equal(run.color(picture.state.slotPaintables[0], in: picture.widget), Paint.green)
        },
        GTKTest("What a program plays or shows stays when the scale of the window changes", .capability("AIV-02")) {
            run in
            defer { WidgetState.fixedScale = nil }
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red)))
            let picture = TintypePicture(manager: run.manager)
            picture.decodeSize = PixelSize(width: 8, height: 8)
            await run.show(picture.widget)
            WidgetState.usesFrameClock = false
            _ = try await picture.setImage(run.url("red")).result.get()
            let frames = [Paint.green, Paint.blue].map { ImageFrame(pixels: Paint.buffer($0), duration: .seconds(9)) }
            picture.play(AnimatedImage(frames: frames)!, in: .image)
            let player = picture.player
            WidgetState.fixedScale = 2
            picture.imageBinding.reload()
            run.check(player != nil && picture.player === player && picture.imageURL() == nil, "another player")
            picture.show(nil, in: .image)
            picture.imageBinding.reload()
            run.equal(run.color(picture.state.slotPaintables[0], in: picture.widget)?.w, 0)
            run.equal(run.manager.hasActiveLoads, false)
        },
        GTKTest("An image comes back after an animation that the program played in its place", .capability("AIV-02")) {
            run in
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red)))
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            WidgetState.usesFrameClock = false
            // The second time, the image that the cache keeps.
            for _ in 0..<2 { _ = try await picture.setImage(run.url("red")).result.get() }
            let frames = [Paint.green, Paint.blue].map {
                ImageFrame(pixels: Paint.buffer($0), duration: .milliseconds(100))
            }
            picture.play(AnimatedImage(frames: frames)!, in: .image)
            await run.wait("the first frame") {
                _ = picture.state.advance(to: .zero)
                return run.color(picture.state.slotPaintables[0], in: picture.widget) == Paint.green
            }
            _ = try await picture.setImage(run.url("red")).result.get()
            run.check(picture.player == nil, "the animation goes on")
            run.equal(run.color(picture.state.slotPaintables[0], in: picture.widget), Paint.red)
        },
    ]
}
#endif
