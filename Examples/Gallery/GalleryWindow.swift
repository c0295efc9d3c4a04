#if GTK
import CGTK
import Foundation
import Tintype
import TintypeGTK

/// The window of the gallery: a stack of the grid, the viewer, the settings, and a page for no images.
@MainActor final class GalleryWindow {
    private enum Page: String {
        case empty, grid, viewer, settings, widgets
    }

    private var arguments: GalleryArguments
    private let quit: @MainActor (Int32) -> Void
    private let window: WidgetPointer = gtk_window_new()
    private let stack: WidgetPointer = gtk_stack_new()
    private let title: WidgetPointer = gtk_label_new(nil)
    private let problems: WidgetPointer = gtk_label_new(nil)
    /// What couldn't be opened, above the images that could.
    private let notice: WidgetPointer = gtk_label_new(nil)
    private lazy var viewer = ViewerPage { [weak self] in self?.step(by: $0) }
    private lazy var settings = SettingsPage()
    private lazy var grid = GridPage(loads: arguments.measures != .pictures) { [weak self] in self?.open($0) }
    private lazy var back = Widgets.button(icon: "go-previous-symbolic", label: "All images (Alt+Left)") {
        [weak self] in
        self?.goBack()
    }
    private var page = Page.grid
    private var position = 0
    private var measurement: Measurement?
    private var chooser: OpaquePointer?
    /// The search of folders that were chosen or dropped.
    private var opening: Task<Void, Never>?

    init(
        _ arguments: GalleryArguments, of application: UnsafeMutablePointer<GtkApplication>?,
        quit: @escaping @MainActor (Int32) -> Void
    ) {
        self.arguments = arguments
        self.quit = quit
        gtk_window_set_application(Widgets.window(window), application)
        let stack = OpaquePointer(self.stack)
        gtk_stack_set_transition_type(stack, GTK_STACK_TRANSITION_TYPE_CROSSFADE)
        let choose = Widgets.button(label: "Open a Folder…") { [weak self] in self?.chooseFolder() }
        gtk_widget_add_css_class(choose, "suggested-action")
        let empty = Widgets.statusPage(
            icon: "folder-pictures-symbolic", title: "No Images", text: problems, button: choose)
        for (page, widget) in [
            (Page.empty, empty), (.grid, makeGridPage()), (.viewer, viewer.widget), (.settings, settings.widget),
        ] { gtk_stack_add_named(stack, widget, page.rawValue) }
        if arguments.showsWidgets { gtk_stack_add_named(stack, WidgetsPage.make(), Page.widgets.rawValue) }
        gtk_window_set_default_size(Widgets.window(window), Int32(arguments.size.width), Int32(arguments.size.height))
        gtk_window_set_titlebar(Widgets.window(window), makeHeader())
        gtk_window_set_child(Widgets.window(window), self.stack)
        Widgets.connect(window, "destroy") { quit(0) }
        Widgets.connectKeys(window) { [weak self] in self?.press($0, $1) ?? false }
        Widgets.connectDrops(window) { [weak self] in self?.openSources($0) }
        showImages()
        if arguments.showsWidgets { show(.widgets) }
    }

    /// - Parameter start: the time at which the program began.
    func present(since start: ContinuousClock.Instant) {
        gtk_window_present(Widgets.window(window))
        if let number = arguments.opens { open(number - 1) }
        if let subject = arguments.measures {
            let measurement = Measurement(window, since: start, quit: quit)
            self.measurement = measurement
            measurement.run(scrolling: arguments.isFirstScreenOnly ? nil : grid.widget) { [weak self] in
                subject != .gallery || self?.grid.hasLoadedVisibleTiles ?? true
            }
        }
        if arguments.walks { walk() }
        if let file = arguments.screenshot { takeScreenshot(file) }
    }

    private func makeGridPage() -> WidgetPointer {
        let page: WidgetPointer = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
        gtk_label_set_ellipsize(OpaquePointer(notice), PANGO_ELLIPSIZE_MIDDLE)
        for set in [gtk_widget_set_margin_top, gtk_widget_set_margin_bottom] { set(notice, 6) }
        gtk_widget_set_vexpand(grid.widget, 1)
        for child in [notice, grid.widget] { gtk_box_append(Widgets.box(page), child) }
        return page
    }

    private func makeHeader() -> WidgetPointer {
        let header: WidgetPointer = gtk_header_bar_new()
        let pointer = OpaquePointer(header)
        gtk_widget_add_css_class(title, "title")
        gtk_header_bar_set_title_widget(pointer, title)
        gtk_header_bar_pack_start(pointer, back)
        gtk_header_bar_pack_start(
            pointer,
            Widgets.button(icon: "folder-open-symbolic", label: "Open a folder (Ctrl+O)") { [weak self] in
                self?.chooseFolder()
            })
        gtk_header_bar_pack_end(
            pointer,
            PrimaryMenu.button([
                (
                    "Settings",
                    { [weak self] in
                        self?.settings.refresh()
                        self?.show(.settings)
                    }
                ),
                ("Keyboard Shortcuts", { [weak self] in if let self { Shortcuts.show(over: Widgets.window(window)) } }),
                (
                    "About Gallery",
                    { [weak self] in if let self { PrimaryMenu.showAbout(over: Widgets.window(window)) } }
                ),
            ]))
        return header
    }

    // MARK: Pages

    private func show(_ page: Page) {
        self.page = page
        gtk_stack_set_visible_child_name(OpaquePointer(stack), page.rawValue)
        let isStart = page == .grid || page == .empty || page == .widgets
        gtk_widget_set_visible(back, isStart ? 0 : 1)
        let count = arguments.urls.count
        let text =
            switch page {
            case .viewer: arguments.urls[position].lastPathComponent
            case .settings: "Settings"
            case .widgets: "Widgets"
            case .empty: "Gallery"
            case .grid: arguments.title ?? (count == 1 ? "1 image" : "\(count) images")
            }
        gtk_label_set_text(OpaquePointer(title), text)
        gtk_window_set_title(Widgets.window(window), text)
    }

    private func showImages() {
        grid.show(arguments.urls)
        let more = arguments.problems.count - 3
        let shown = arguments.problems.prefix(3) + (more > 0 ? ["And \(more) more."] : [])
        gtk_label_set_text(OpaquePointer(notice), shown.joined(separator: "\n"))
        gtk_widget_set_visible(notice, arguments.problems.isEmpty ? 0 : 1)
        let text = (arguments.problems + ["Open a folder, or drop one here."]).joined(separator: "\n")
        gtk_label_set_text(OpaquePointer(problems), text)
        show(arguments.urls.isEmpty && arguments.measures == nil ? .empty : .grid)
    }

    private func goBack() {
        if page == .viewer { viewer.close() }
        show(arguments.urls.isEmpty ? .empty : .grid)
    }

    @discardableResult private func open(_ position: Int) -> DisplayLoad? {
        guard arguments.urls.indices.contains(position) else { return nil }
        self.position = position
        show(.viewer)
        return viewer.open(arguments.urls[position])
    }

    private func step(by places: Int) {
        open(position + places)
    }

    /// - Returns: true if the key means something here.
    private func press(_ key: Int32, _ modifiers: GdkModifierType) -> Bool {
        let isControl = modifiers.rawValue & GDK_CONTROL_MASK.rawValue != 0
        let isAlt = modifiers.rawValue & GDK_ALT_MASK.rawValue != 0
        switch (key, page) {
        case (GDK_KEY_F11, _):
            let isFullscreen = gtk_window_is_fullscreen(Widgets.window(window)) != 0
            isFullscreen
                ? gtk_window_unfullscreen(Widgets.window(window)) : gtk_window_fullscreen(Widgets.window(window))
        case (GDK_KEY_o, _) where isControl: chooseFolder()
        case (GDK_KEY_q, _) where isControl: quit(0)
        case (GDK_KEY_question, _) where isControl, (GDK_KEY_F1, _): Shortcuts.show(over: Widgets.window(window))
        case (GDK_KEY_Escape, _) where gtk_window_is_fullscreen(Widgets.window(window)) != 0:
            gtk_window_unfullscreen(Widgets.window(window))
        case (GDK_KEY_Escape, .viewer), (GDK_KEY_Escape, .settings): goBack()
        case (GDK_KEY_Left, .viewer) where isAlt, (GDK_KEY_Left, .settings) where isAlt: goBack()
        case (GDK_KEY_Left, .viewer): step(by: -1)
        case (GDK_KEY_Right, .viewer): step(by: 1)
        case (GDK_KEY_plus, .viewer), (GDK_KEY_equal, .viewer), (GDK_KEY_KP_Add, .viewer): viewer.scale(by: 1.25)
        case (GDK_KEY_minus, .viewer), (GDK_KEY_KP_Subtract, .viewer): viewer.scale(by: 0.8)
        case (GDK_KEY_1, .viewer): viewer.set(1)
        case (GDK_KEY_0, .viewer): viewer.set(nil)
        default: return false
        }
        return true
    }

    // MARK: Folders

    private func openSources(_ sources: [String]) {
        opening?.cancel()
        gtk_label_set_text(OpaquePointer(title), "Searching…")
        opening = Task {
            let found = await arguments.opening(sources)
            guard !Task.isCancelled else { return }
            arguments = found
            if page == .viewer { viewer.close() }
            showImages()
        }
    }

    private func chooseFolder() {
        guard chooser == nil else { return }
        let chooser = gtk_file_chooser_native_new(
            "Open a Folder", Widgets.window(window), GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, "_Open", "_Cancel")
        self.chooser = chooser
        guard let chooser else { return }
        Widgets.connectNumber(UnsafeMutableRawPointer(chooser), "response") { [weak self] response in
            let file = gtk_file_chooser_get_file(chooser)
            let path = file.flatMap { g_file_get_path($0) }
            if Int32(bitPattern: response) == GTK_RESPONSE_ACCEPT.rawValue, let path {
                self?.openSources([String(cString: path)])
            }
            g_free(path)
            if let file { g_object_unref(UnsafeMutableRawPointer(file)) }
            g_object_unref(UnsafeMutableRawPointer(chooser))
            self?.chooser = nil
        }
        gtk_native_dialog_show(UnsafeMutableRawPointer(chooser).assumingMemoryBound(to: GtkNativeDialog.self))
    }

    // MARK: Modes that end by themselves

    /// Shows each image twice, and prints what came of it.
    private func walk() {
        Task {
            var walk = Walk()
            for pass in 1...2 {
                for (index, url) in arguments.urls.enumerated() {
                    guard let load = open(index) else { continue }
                    walk.note(await load.result, of: url, pass: pass)
                }
                walk.endPass()
            }
            print(walk.report)
            quit(0)
        }
    }

    /// Writes the window when everything that it shows has loaded and every transition has ended, or after a minute.
    private func takeScreenshot(_ file: String) {
        Task {
            let end = ContinuousClock.now + .seconds(60)
            while page == .grid, !grid.hasLoadedVisibleTiles, ContinuousClock.now < end {
                try? await Task.sleep(for: .milliseconds(50))
            }
            if page == .viewer { await viewer.waitForEnd() }
            try? await Task.sleep(for: .milliseconds(800))
            guard let image = WidgetCapture.image(of: window) else {
                print("The window can't be written: it isn't shown.")
                return quit(1)
            }
            do {
                let data = try image.encoded(as: file.hasSuffix(".webp") ? .webp : .png)
                try data.write(to: URL(filePath: file))
                print("\(file): \(image.size), \(data.count) bytes")
                quit(0)
            } catch {
                print("\(file): \(error)")
                quit(1)
            }
        }
    }
}
#endif
