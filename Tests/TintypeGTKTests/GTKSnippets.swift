#if GTK
import CGTK
import Tintype
import TintypeGTK
import TintypeTesting

@MainActor
enum GTKSnippets {
    static let all = [
        GTKTest("The code of the documentation runs") { run in
            let data = Paint.png(Paint.red)
            let urls = (0..<3).map { URL(string: "data:image/png;name=\($0);base64,\(data.base64EncodedString())")! }
            let url = urls[0]
            let box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)!
            let container = UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self)
            // snippet: gtk-picture
            let picture = TintypePicture()
            picture.decodeSize = PixelSize(width: 200, height: 150)
            picture.expectedSize = PixelSize(width: 200, height: 150)
            picture.placeholder = .icon("image-x-generic-symbolic")
            picture.failure = .retryButton()
            picture.alternativeText = "The sea at night"
            gtk_box_append(container, picture.widget)
            picture.setImage(url, transition: .crossDissolve(0.25), indicator: .spinner)
            // snippet.end
            let frames = [Paint.red, Paint.blue].map {
                ImageFrame(pixels: Paint.buffer($0), duration: .milliseconds(100))
            }
            let animation = AnimatedImage(frames: frames)!
            // snippet: gtk-phases
            picture.indicator = .widget(gtk_progress_bar_new())
            picture.onPhaseChange = { slot, phase in
                switch phase {
                case .empty, .loading: break
                case .image(let result): print("\(result.image.size) from \(result.source)")
                case .failure(let error): print(error)
                }
            }
            // snippet.end
            // snippet: gtk-button
            let button = TintypeButton()
            button.setImage(url, for: .normal)
            button.setBackgroundImage(url, for: .hover)
            let avatar = TintypeAvatar(name: "Ada Lovelace", size: 48)
            avatar.setImage(url)
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
            gtk_box_append(container, avatar.widget)
            gtk_scrolled_window_set_child(OpaquePointer(scrolled), grid)
            gtk_box_append(container, scrolled)
            await run.show(box)
            if case .failure(let error)? = await picture.imageBinding.load()?.result {
                run.check(false, "\(error)")
            }
            // snippet: gtk-playback
            picture.playback.rate = 0.5
            picture.playback.loopCount = 3
            picture.play(animation, in: .image)
            // snippet.end
            run.equal(picture.player?.loopCount, 3)
        }
    ]
}
#endif
