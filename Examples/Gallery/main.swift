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
if arguments.isDark { ColorScheme.isDark = true }
let loop = g_main_loop_new(nil, 0)
let quit: @MainActor (Int32) -> Void = { exit($0) }
// Both live as long as the program.
let gallery = arguments.measures == .window ? nil : GalleryWindow(arguments, quit: quit)
let measurement =
    arguments.measures == .window ? Measurement.ofEmptyWindow(arguments.size, since: start, quit: quit) : nil
gallery?.present(since: start)
g_main_loop_run(loop)
#else
print("The gallery needs the trait GTK: run scripts/gallery")
#endif
