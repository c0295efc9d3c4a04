#if GTK
import CGTK
import Tintype
import TintypeTesting

@testable import TintypeGTK

/// Loads and animations of widgets that nobody sees, or that change while something is under way.
@MainActor
enum GTKDisplayTests {
    static let all = [
        GTKTest("A transition of a state that a button isn't in ends at once, and the state has its image") { run in
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red)))
            run.loader.answer(run.url("green"), with: .data(Paint.png(Paint.green)))
            let button = TintypeButton(manager: run.manager)
            await run.show(button.widget)
            _ = try await button.setImage(run.url("red"), for: .normal).result.get()
            let load = button.setImage(
                run.url("green"), in: TintypeButton.imageSlot(for: .hover), display: .waitTransition,
                transition: .crossDissolve(3_600))
            await run.wait("the load of the state ends") { load.end != nil }
            gtk_widget_set_state_flags(button.widget, GTK_STATE_FLAG_PRELIGHT, 0)
            run.equal(run.color(button.state.slotPaintables[0], in: button.widget), Paint.green)
        },
        GTKTest("An image that is set at the end of a transition stays") { run in
            WidgetState.usesFrameClock = false
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red)))
            run.loader.answer(run.url("blue"), with: .data(Paint.png(Paint.blue)))
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            // In memory, and so shown within the call.
            _ = try await run.manager.image(for: run.url("blue"))
            var transition = ImageTransition.crossDissolve(1)
            let next = run.url("blue")
            transition.completion = { _ in picture.setImage(next) }
            _ = try await picture.setImage(run.url("red"), transition: transition).result.get()
            _ = picture.state.advance(to: .seconds(1))
            _ = picture.state.advance(to: .seconds(3))
            run.equal(run.color(picture.state.slotPaintables[0], in: picture.widget), Paint.blue)
            _ = picture.state.advance(to: .seconds(4))
            run.equal(run.color(picture.state.slotPaintables[0], in: picture.widget), Paint.blue)
            run.equal(picture.imageURL(), next)
        },
        GTKTest("An image that is set when another one interrupts a transition stays") { run in
            WidgetState.usesFrameClock = false
            for (name, color) in [("red", Paint.red), ("green", Paint.green), ("blue", Paint.blue)] {
                run.loader.answer(run.url(name), with: .data(Paint.png(color)))
                // In memory, and so shown within the call.
                _ = try await run.manager.image(for: run.url(name))
            }
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            var transition = ImageTransition.crossDissolve(1)
            let last = run.url("blue")
            transition.completion = { isFinished in if !isFinished { picture.setImage(last) } }
            picture.setImage(run.url("red"), display: .forceTransition, transition: transition)
            _ = picture.state.advance(to: .seconds(1))
            picture.setImage(run.url("green"))
            run.equal(run.color(picture.state.slotPaintables[0], in: picture.widget), Paint.blue)
            run.equal(picture.imageURL(), last)
        },
        GTKTest("A load that waits for its transition ends before its widget is mapped") { run in
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red)))
            let picture = TintypePicture(manager: run.manager)
            let load = picture.setImage(run.url("red"), display: .waitTransition, transition: .crossDissolve(3_600))
            await run.wait("the load ends") { load.end != nil }
            await run.show(picture.widget)
            run.equal(run.color(picture.state.slotPaintables[0], in: picture.widget), Paint.red)
        },
        GTKTest("An animation that is replaced while its widget is out of sight is released", .capability("3.5")) {
            run in
            run.loader.answer(run.url("moving"), with: .data(Paint.animation()))
            let picture = TintypePicture(manager: run.manager)
            await run.show(picture.widget)
            _ = try await picture.setImage(run.url("moving")).result.get()
            await run.wait("the animation is open") { picture.player?.currentFrame != nil }
            weak let player = picture.player
            gtk_widget_set_visible(picture.widget, 0)
            await run.wait("out of sight") { player?.isSuspended == true }
            picture.setImage(nil as URL?)
            await run.wait("the player is gone") { player == nil }
        },
    ]
}
#endif
