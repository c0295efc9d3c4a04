// A picture browser for GTK 4: PictureBrowser FOLDER [--screenshot FILE]
#if GTK
import CGTK
import Foundation
import Tintype
import TintypeGTK

let arguments = CommandLine.arguments
guard arguments.count == 2 || (arguments.count == 4 && arguments[2] == "--screenshot") else {
    print("usage: PictureBrowser FOLDER [--screenshot FILE]")
    exit(64)
}

// snippet: browser-start
// Without an await at the top level, the main actor is on this thread, which becomes GTK's.
MainActorBridge.attach()
guard gtk_init_check() != 0 else {
    print("There is no display.")
    exit(1)
}
let browser = Browser(try pictures(in: CommandLine.arguments[1]))
// snippet.hide
if arguments.count == 4 { takeScreenshot(of: browser, to: arguments[3]) }
// snippet.show
g_main_loop_run(g_main_loop_new(nil, 0))
// snippet.end

// snippet: browser-pictures
/// The files of a folder whose names end like those of pictures.
func pictures(in folder: String) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: URL(filePath: folder), includingPropertiesForKeys: nil)
        .filter { ImageFormat(fileExtension: $0.pathExtension) != nil }
        .sorted { $0.lastPathComponent < $1.lastPathComponent }
}
// snippet.end

/// Opens the first picture, writes the window to a file, and ends the program.
@MainActor func takeScreenshot(of browser: Browser, to file: String) {
    Task {
        do {
            browser.open(0)
            let result = try await browser.viewer.imageBinding.load()?.result.get()
            try await Task.sleep(for: .milliseconds(500))  // for GTK to draw it
            guard let result, let picture = WidgetCapture.image(of: browser.window) else { exit(1) }
            try picture.encoded(as: .png).write(to: URL(filePath: file))
            print("\(file): \(picture.size), showing \(result.image.size)")
            exit(0)
        } catch {
            print(error)
            exit(1)
        }
    }
}
#else
print("The browser needs the trait GTK: run scripts/examples")
#endif
