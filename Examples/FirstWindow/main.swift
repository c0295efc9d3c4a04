// The first program of the article “Showing images”: a window with one picture. It compiles in the language modes of Swift 5 and 6.
#if GTK
// snippet: gtk-program
import CGTK
import Tintype
import TintypeGTK

// GTK runs on the first thread, so the top level of the program has no await.
MainActor.assumeIsolated { MainActorBridge.attach() }

@MainActor func showWindow(of application: UnsafeMutablePointer<GtkApplication>?) {
    let window = gtk_application_window_new(application)
    let picture = TintypePicture()
    picture.decodeSize = PixelSize(width: 640, height: 480)
    picture.placeholder = .icon("image-x-generic-symbolic")
    picture.failure = .retryButton()
    picture.alternativeText = "The picture of the day"
    picture.setImage(
        URL(string: "https://example.org/picture.jpg"), transition: .crossDissolve(), indicator: .spinner)
    let frame = UnsafeMutablePointer<GtkWindow>(OpaquePointer(window))  // GTK_WINDOW(window) in C
    gtk_window_set_child(frame, picture.widget)
    gtk_window_present(frame)
}

let application = gtk_application_new("org.example.Picture", GApplicationFlags(rawValue: 0))
let activate: @convention(c) (gpointer?, gpointer?) -> Void = { _, _ in
    MainActor.assumeIsolated { showWindow(of: application) }
}
g_signal_connect_data(
    application, "activate", unsafeBitCast(activate, to: GCallback.self), nil, nil, GConnectFlags(rawValue: 0))
g_application_run(UnsafeMutablePointer(OpaquePointer(application)), 0, nil)
// snippet.end
#else
print("This program needs the trait GTK.")
#endif
