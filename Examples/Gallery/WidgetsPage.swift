#if GTK
import CGTK
import Foundation
import Tintype
import TintypeGTK
import TintypeTesting

/// The widgets of the library, with and without images.
@MainActor enum WidgetsPage {
    static func make() -> WidgetPointer {
        let page: WidgetPointer = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18)
        for set in [gtk_widget_set_halign, gtk_widget_set_valign] { set(page, GTK_ALIGN_CENTER) }
        let rows: [(String, [ImageWidget])] = [
            ("Avatars", avatars()), ("An image, a placeholder, a failure, and a load", pictures()),
            ("Buttons", buttons()),
        ]
        for (title, widgets) in rows {
            let label: WidgetPointer = gtk_label_new(title)
            let row: WidgetPointer = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12)
            gtk_widget_add_css_class(label, "heading")
            gtk_widget_set_halign(label, GTK_ALIGN_START)
            for widget in widgets {
                guard widget is TintypePicture else {
                    gtk_box_append(Widgets.box(row), widget.widget)
                    continue
                }
                let frame: WidgetPointer = gtk_frame_new(nil)
                gtk_frame_set_child(
                    UnsafeMutableRawPointer(frame).assumingMemoryBound(to: GtkFrame.self), widget.widget)
                gtk_box_append(Widgets.box(row), frame)
            }
            gtk_box_append(Widgets.box(page), label)
            gtk_box_append(Widgets.box(page), row)
        }
        return page
    }

    /// A picture that is drawn, as a URL.
    private static let photograph: URL? = (try? SampleImages.draw(.spheres, scale: 0.3)).flatMap { sample in
        URL(string: "data:image/png;base64,\(sample.data.base64EncodedString())")
    }

    /// A manager whose loads never end.
    private static let endless: ImageManager = {
        let gate = OriginGate()
        return ImageManager(
            cache: ImageCache(), loader: TestLoader { _ in .data(Data()).waiting(at: gate) }, coders: ImageCoders.default)
    }()

    private static func avatars() -> [ImageWidget] {
        ["Ada Lovelace", "Grace Hopper", "Émilie du Châtelet", "Hedy Lamarr", "Chien-Shiung Wu", ""].enumerated().map { index, name in
            let avatar = TintypeAvatar(name: name, size: 64)
            if index == 1 { avatar.setImage(photograph) }
            return avatar
        }
    }

    private static func pictures() -> [ImageWidget] {
        (0..<4).map { index in
            let picture = TintypePicture(manager: index == 3 ? endless : nil)
            picture.expectedSize = PixelSize(width: 120, height: 90)
            picture.decodeSize = picture.expectedSize
            gtk_picture_set_can_shrink(OpaquePointer(picture.widget), 0)
            picture.placeholder = .icon("image-x-generic-symbolic")
            picture.failure = .widget(failure(of: picture))
            if index == 0 { picture.setImage(photograph) }
            if index == 2 { picture.setImage(URL(string: "file:///nonexistent.png")) }
            if index == 3 {
                picture.placeholder = nil
                if let spinner = gtk_spinner_new() {
                    for set in [gtk_widget_set_halign, gtk_widget_set_valign] { set(spinner, GTK_ALIGN_CENTER) }
                    gtk_widget_set_size_request(spinner, 32, 32)
                    picture.indicator = .widget(spinner)
                }
                picture.setImage(URL(string: "test:/endless"), indicator: .spinner)
            }
            return picture
        }
    }

    /// A broken image above a button that loads it again. Pictures live as long as the program here.
    private static func failure(of picture: TintypePicture) -> WidgetPointer {
        let box: WidgetPointer = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6)
        let icon: WidgetPointer = gtk_image_new_from_icon_name("image-missing-symbolic")
        gtk_image_set_icon_size(OpaquePointer(icon), GTK_ICON_SIZE_LARGE)
        gtk_widget_add_css_class(icon, "dim-label")
        let button = Widgets.button(label: "Try Again") { picture.imageBinding.retry() }
        for child in [icon, button] { gtk_box_append(Widgets.box(box), child) }
        for set in [gtk_widget_set_halign, gtk_widget_set_valign] { set(box, GTK_ALIGN_CENTER) }
        return box
    }

    private static func buttons() -> [ImageWidget] {
        ["Picture and label", nil].map { label in
            let button = TintypeButton()
            button.decodeSize = PixelSize(width: 48, height: 36)
            button.setImage(photograph, for: .normal)
            let pointer = UnsafeMutableRawPointer(button.widget).assumingMemoryBound(to: GtkButton.self)
            if let label { gtk_button_set_label(pointer, label) } else { button.alternativeText = "Picture" }
            return button
        }
    }
}
#endif
