// A gallery for GTK 4: a grid of thumbnails, a viewer, and settings.
#if GTK
import CGTK
import Foundation
import Tintype
import TintypeGTK

let start = ContinuousClock.now
guard !CommandLine.arguments.contains("--help") else {
    print(GalleryArguments.help, terminator: "")
    exit(0)
}
let arguments: GalleryArguments
do {
    arguments = try GalleryArguments(Array(CommandLine.arguments.dropFirst()))
} catch {
    let reason = (error as? GalleryArguments.UsageError)?.reason ?? "\(error)"
    FileHandle.standardError.write(Data("\(reason)\n\(GalleryArguments.help)".utf8))
    exit(64)
}
for problem in arguments.problems { FileHandle.standardError.write(Data("\(problem)\n".utf8)) }
// The top level stays synchronous, so that the main actor is on this thread, the one of GTK.
MainActorBridge.attach()
CacheLimits.saved().apply()
guard gtk_init_check() != 0 else {
    FileHandle.standardError.write(Data("There is no display. On a machine without one, use xvfb-run.\n".utf8))
    exit(1)
}
ColorScheme.followDesktop()
if arguments.isDark { ColorScheme.choose(isDark: true) }
let quit: @MainActor (Int32) -> Void = { exit($0) }
// Both live as long as the program.
var gallery: GalleryWindow?
var measurement: Measurement?
// Its id is what the desktop knows the window by. Each start has a window of its own, because each has other images.
let application: UnsafeMutablePointer<GtkApplication> = gtk_application_new("org.tintype.Gallery", G_APPLICATION_NON_UNIQUE)
Widgets.connect(application, "activate") {
    guard arguments.measures != .window else {
        measurement = Measurement.ofEmptyWindow(arguments.size, of: application, since: start, quit: quit)
        return
    }
    gallery = GalleryWindow(arguments, of: application, quit: quit)
    gallery?.present(since: start)
}
g_application_run(UnsafeMutablePointer(OpaquePointer(application)), 0, nil)
#else
print("The gallery needs the trait GTK: run scripts/gallery")
#endif
