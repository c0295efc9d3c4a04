#if GTK
import CGTK
import Tintype
import TintypeTesting

@testable import TintypeGTK

@MainActor
enum GTKButtonTests {
    static let all = [
        GTKTest(
            "A button has an image and a background for each state, or else those of the normal state",
            .capability("VEW-20", "AFD-14", "D19")
        ) { run in
            for (name, color) in [
                ("red", Paint.red), ("green", Paint.green), ("blue", Paint.blue), ("gray", Paint.gray),
            ] {
                run.loader.answer(run.url(name), with: .data(Paint.png(color)))
            }
            let button = TintypeButton(manager: run.manager)
            await run.show(button.widget)
            _ = try await button.setImage(run.url("red"), for: .normal).result.get()
            _ = try await button.setImage(run.url("green"), for: .hover).result.get()
            _ = try await button.setImage(run.url("blue"), for: .disabled).result.get()
            _ = try await button.setBackgroundImage(run.url("gray"), for: .normal).result.get()
            let (image, background) = (button.state.slotPaintables[0], button.state.slotPaintables[1])
            @MainActor func colors(_ flags: GtkStateFlags) -> [SIMD4<UInt8>?] {
                gtk_widget_set_state_flags(button.widget, flags, 0)
                defer { gtk_widget_unset_state_flags(button.widget, flags) }
                return [run.color(image, in: button.widget), run.color(background, in: button.widget)]
            }
            run.equal(colors(GTK_STATE_FLAG_NORMAL), [Paint.red, Paint.gray])
            run.equal(colors(GTK_STATE_FLAG_PRELIGHT), [Paint.green, Paint.gray])
            run.equal(colors(GTK_STATE_FLAG_ACTIVE), [Paint.red, Paint.gray])
            gtk_widget_set_sensitive(button.widget, 0)
            run.equal(run.color(image, in: button.widget), Paint.blue)
            run.equal(button.imageURL(for: .hover), run.url("green"))
            run.equal(button.imageURL(for: .pressed), run.url("red"))
            run.equal(button.backgroundImageURL(for: .disabled), run.url("gray"))
        },
        GTKTest("A wrapped button keeps its label, and the loads of a state can be canceled", .capability("VEW-21")) {
            run in
            let gate = OriginGate()
            run.loader.answer(run.url("red"), with: .data(Paint.png(Paint.red)).waiting(at: gate))
            let widget = gtk_button_new_with_label("Label")!
            let label = gtk_button_get_child(UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkButton.self))
            let button = TintypeButton(wrapping: widget, manager: run.manager)
            await run.show(widget)
            run.check(gtk_widget_get_mapped(label) != 0, "the label is gone")
            let load = button.setImage(run.url("red"), for: .pressed)
            try await gate.waitForArrivals(1)
            button.cancelImageLoads(for: .pressed)
            run.check(load.end != nil, "the load goes on")
        },
    ]
}
#endif
