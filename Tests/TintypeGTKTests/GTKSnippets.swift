#if GTK
import CGTK
import Tintype
import TintypeGTK
import TintypeTesting

@MainActor
enum GTKSnippets {
    static let all = [
        GTKTest("The code of the documentation runs") { run in
            // snippet: gtk-start
            MainActorBridge.attach()
            ImageBinding.defaultManager = .shared
            // then g_application_run(…), without an await
            // snippet.end
            let data = Paint.png(Paint.red)
            let urls = (0..<3).map { URL(string: "data:image/png;name=\($0);base64,\(data.base64EncodedString())")! }
            let url = urls[0]
            let (icon, box) = (Paint.image(Paint.gray), gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)!)
            let container = UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self)
            // snippet: gtk-picture
            let picture = TintypePicture()
            picture.decodeSize = PixelSize(width: 200, height: 150)
            gtk_box_append(container, picture.widget)
            picture.setImage(
                url, placeholder: icon, transition: .crossDissolve(0.25), indicator: .spinner)
            // snippet.end
            // snippet: gtk-button
            let button = TintypeButton()
            button.setImage(url, for: .normal)
            button.setBackgroundImage(url, for: .hover)
            // snippet.end
            let scrolled: WidgetPointer = gtk_scrolled_window_new()
            let model = gtk_no_selection_new(gtk_string_list_new(nil))
            let names = gtk_no_selection_get_model(model)
            for _ in urls { gtk_string_list_append(names, "image") }
            // snippet: gtk-grid
            let factory = TintypeItemFactory { picture, position in
                picture.setImage(urls[position], indicator: .spinner)
            }
            let grid = gtk_grid_view_new(model, factory.retainedPointer())
            // snippet.end
            gtk_box_append(container, button.widget)
            gtk_scrolled_window_set_child(OpaquePointer(scrolled), grid)
            gtk_box_append(container, scrolled)
            await run.show(box)
            if case .failure(let error)? = await picture.imageBinding.load()?.result {
                run.check(false, "\(error)")
            }
            ImageBinding.defaultManager = nil
        }
    ]
}
#endif
