#if GTK
import CGTK
import Glibc
import Tintype
import TintypeTesting

@testable import TintypeGTK

@MainActor
enum GTKListTests {
    static let all = [
        GTKTest(
            "Recycling 5,000 rows leaves no load that nobody sees, and no widget or texture", .capability("3.2", "3.7")
        ) { run in
            let live = WidgetState.liveCount
            let textures = Texture.buffersInUse.withLock { $0 }
            let gate = OriginGate()
            let data = Paint.png(Paint.red)
            let loader = TestLoader { _ in .data(data).waiting(at: gate) }
            let manager = ImageManager(cache: ImageCache(), loader: loader, coders: ImageCoders.default)
            var bound = 0
            do {
                let (view, scrolled, _) = makeList(rows: 5_000) { picture, position in
                    bound += 1
                    picture.setImage(
                        URL(string: "test:/\(position)"), placeholder: Paint.image(Paint.gray), indicator: .spinner)
                } manager: {
                    manager
                }
                _ = view
                await run.show(scrolled, width: 200, height: 300)
                let adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled))
                let end = gtk_adjustment_get_upper(adjustment)
                for step in 1...50 {
                    gtk_adjustment_set_value(adjustment, end * Double(step) / 50)
                    if step % 5 == 0 { gate.open(20) }
                    for _ in 0..<4 { await run.pump() }
                }
                run.check(bound > 400, "only \(bound) rows were bound")
                await run.wait("loads of rows that scrolled away are canceled") {
                    loader.runningLoads <= WidgetState.liveCount - live
                }
                run.check(WidgetState.liveCount - live < 600, "\(WidgetState.liveCount - live) widgets for one screen")
                gate.openForGood()
                await run.wait("all loads end") { !manager.hasActiveLoads }
            }
            await run.close()
            await run.wait("the widgets are gone: \(WidgetState.liveCount)") { WidgetState.liveCount == live }
            await run.wait("the textures are gone") { Texture.buffersInUse.withLock { $0 } == textures }
        },
        GTKTest("The images of a list begin to load when it is laid out, those in sight first") { run in
            let gate = OriginGate()
            let data = Paint.png(Paint.red)
            let loader = TestLoader { _ in .data(data).waiting(at: gate) }
            let manager = ImageManager(cache: ImageCache(), loader: loader, coders: ImageCoders.default)
            var waiting: [Bool] = []
            let (_, scrolled, _) = makeList(rows: 1_000) { picture, position in
                picture.setImage(URL(string: "test:/\(position)"))
                waiting.append(picture.imageBinding.isSuspended)
            } manager: {
                manager
            }
            await run.show(scrolled, width: 200, height: 200)
            await run.wait("loads begin") { loader.requestCount() >= 5 }
            run.check(!waiting.contains(false), "loads began before the list was laid out")
            let first = loader.requests.prefix(5).compactMap { Int($0.url.lastPathComponent) }
            run.check(first.allSatisfy { $0 < 10 }, "\(first) came first")
            gate.openForGood()
            await run.wait("all loads end") { !manager.hasActiveLoads }
        },
        GTKTest("A factory's closures get the picture and the widget that it is in") { run in
            let strings = gtk_string_list_new(nil)
            for row in 0..<500 { gtk_string_list_append(strings, "\(row)") }
            var (bound, texts, errors): (Int, [WidgetPointer: String], [String]) = (0, [:], [])
            @MainActor func label(_ box: WidgetPointer) -> WidgetPointer? { gtk_widget_get_last_child(box) }
            let manager = run.manager
            do {
                let factory = TintypeItemFactory(manager: manager) { picture in
                    let box: WidgetPointer = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6)
                    let row = UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self)
                    for widget in [picture.widget, gtk_label_new(nil)] { gtk_box_append(row, widget) }
                    return box
                } bind: { picture, box, position in
                    bound += 1
                    texts[box] = "\(position)"
                    gtk_label_set_text(label(box).map { OpaquePointer($0) }, "\(position)")
                    if gtk_widget_get_parent(picture.widget) != box { errors.append("\(position) is bound elsewhere") }
                } unbind: { picture, box in
                    bound -= 1
                    let text = label(box).map { String(cString: gtk_label_get_text(OpaquePointer($0))) }
                    if text == nil || texts.removeValue(forKey: box) != text
                        || gtk_widget_get_parent(picture.widget) != box
                    {
                        errors.append("\(text ?? "nothing") is unbound elsewhere")
                    }
                }
                let view = gtk_list_view_new(gtk_no_selection_new(strings), factory.retainedPointer())!
                let scrolled = gtk_scrolled_window_new()!
                gtk_scrolled_window_set_child(OpaquePointer(scrolled), view)
                await run.show(scrolled, width: 200, height: 200)
                let adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled))
                for step in 1...10 {
                    gtk_adjustment_set_value(adjustment, gtk_adjustment_get_upper(adjustment) * Double(step) / 10)
                    for _ in 0..<4 { await run.pump() }
                }
                run.check(bound > 0 && bound < 500, "\(bound) rows are bound")
            }
            await run.close()
            await run.wait("all rows are unbound") { bound == 0 }
            run.equal(errors, [])
        },
        GTKTest("Memory stays flat over ten passes of a list") { run in
            let data = Paint.png(Paint.blue, width: 64, height: 64)
            let loader = TestLoader { _ in .data(data) }
            let manager = ImageManager(
                cache: ImageCache(memory: .init(capacity: .megabytes(2))), loader: loader,
                coders: ImageCoders.default)
            let (_, scrolled, _) = makeList(rows: 1_000) { picture, position in
                picture.setImage(URL(string: "test:/\(position)"))
            } manager: {
                manager
            }
            await run.show(scrolled, width: 200, height: 300)
            let adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled))
            let end = gtk_adjustment_get_upper(adjustment)
            var counts: [Int] = []
            for _ in 0..<10 {
                for step in 0...20 {
                    gtk_adjustment_set_value(adjustment, end * Double(step) / 20)
                    await run.pump()
                }
                await run.wait("all loads end") { !manager.hasActiveLoads }
                counts.append(Texture.buffersInUse.withLock { $0 })
            }
            run.check((counts.max() ?? 0) <= (counts.first ?? 0) + 300, "textures grow: \(counts)")
        },
    ]

    /// Makes a list of rows with one picture each.
    private static func makeList(
        rows: Int, bind: @escaping @MainActor (TintypePicture, Int) -> Void, manager: () -> ImageManager
    ) -> (WidgetPointer, WidgetPointer, TintypeItemFactory) {
        let strings = gtk_string_list_new(nil)
        for row in 0..<rows { gtk_string_list_append(strings, "\(row)") }
        let factory = TintypeItemFactory(manager: manager()) { picture in
            gtk_widget_set_size_request(picture.widget, 100, 40)
            return picture.widget
        } bind: { picture, _, position in
            bind(picture, position)
        }
        let selection = gtk_no_selection_new(strings)
        let view = gtk_list_view_new(selection, factory.retainedPointer())!
        let scrolled = gtk_scrolled_window_new()!
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), view)
        return (view, scrolled, factory)
    }
}
#endif
