#if GTK
import CGTK
import Foundation
import Tintype
import TintypeGTK

/// The window of the gallery: a stack of the grid, the viewer, and the settings.
@MainActor final class GalleryWindow {
    private let arguments: GalleryArguments
    private let quit: @MainActor (Int32) -> Void
    private let window: WidgetPointer = gtk_window_new()
    private let stack: WidgetPointer = gtk_stack_new()
    private let title: WidgetPointer = gtk_label_new(nil)
    private lazy var viewer = ViewerPage()
    private lazy var settings = SettingsPage()
    private var factory: TintypeItemFactory?
    private var pendingTiles: Set<Int> = []
    private var boundTiles = 0
    /// The pictures of the grid by their widgets, with the positions of their images.
    private var tiles: [WidgetPointer: Tile] = [:]
    private var grid: WidgetPointer?
    private var measurement: Measurement?

    private struct Tile {
        weak var picture: TintypePicture?
        var position: Int
    }

    /// The side of a thumbnail in application pixels.
    private static let side: Int32 = 168

    init(_ arguments: GalleryArguments, quit: @escaping @MainActor (Int32) -> Void) {
        self.arguments = arguments
        self.quit = quit
        let stack = OpaquePointer(self.stack)
        gtk_stack_set_transition_type(stack, GTK_STACK_TRANSITION_TYPE_CROSSFADE)
        let scrolled = makeGrid()
        grid = scrolled
        gtk_stack_add_named(stack, scrolled, "grid")
        gtk_stack_add_named(stack, viewer.widget, "viewer")
        gtk_stack_add_named(stack, settings.widget, "settings")
        gtk_window_set_default_size(Widgets.window(window), Int32(arguments.size.width), Int32(arguments.size.height))
        gtk_window_set_titlebar(Widgets.window(window), makeHeader())
        gtk_window_set_child(Widgets.window(window), self.stack)
        Widgets.connect(window, "destroy") { _ in quit(0) }
        show("grid")
    }

    /// - Parameter start: the time at which the program began.
    func present(since start: ContinuousClock.Instant) {
        gtk_window_present(Widgets.window(window))
        if let subject = arguments.measures {
            let measurement = Measurement(window, since: start, quit: quit)
            self.measurement = measurement
            measurement.run(scrolling: arguments.isFirstScreenOnly ? nil : grid) { [weak self] in
                subject != .gallery || self?.hasLoadedVisibleTiles ?? true
            }
        }
        if let file = arguments.screenshot { takeScreenshot(file) }
    }

    private func show(_ page: String, title text: String? = nil) {
        gtk_stack_set_visible_child_name(OpaquePointer(stack), page)
        let count = arguments.urls.count
        gtk_label_set_text(OpaquePointer(title), text ?? (count == 1 ? "1 image" : "\(count) images"))
    }

    private func makeHeader() -> WidgetPointer {
        let header: WidgetPointer = gtk_header_bar_new()
        let pointer = OpaquePointer(header)
        gtk_header_bar_set_title_widget(pointer, title)
        gtk_header_bar_pack_start(
            pointer,
            Widgets.button(icon: "go-previous-symbolic", label: "All images") { [weak self] in
                self?.viewer.close()
                self?.show("grid")
            })
        gtk_header_bar_pack_end(
            pointer,
            Widgets.button(icon: "preferences-system-symbolic", label: "Cache") { [weak self] in
                self?.settings.refresh()
                self?.show("settings", title: "Cache")
            })
        return header
    }

    // MARK: The grid

    private func makeGrid() -> WidgetPointer {
        // An item for each image; pictures are made with its position.
        let items = gtk_string_list_new(nil)
        for _ in arguments.urls { gtk_string_list_append(items, "") }
        let factory = TintypeItemFactory { picture in
            picture.decodeSize = PixelSize(width: Int(Self.side), height: Int(Self.side))
            gtk_widget_set_size_request(picture.widget, Self.side, Self.side)
            return picture.widget
        } bind: { [weak self] picture, position in
            self?.bind(picture, position)
        }
        self.factory = factory
        let pointer =
            arguments.measures == .pictures ? PlainGrid.factory(side: Self.side) : factory.retainedPointer()
        let grid: WidgetPointer = gtk_grid_view_new(gtk_no_selection_new(items), pointer)
        gtk_grid_view_set_max_columns(OpaquePointer(grid), 12)
        gtk_grid_view_set_min_columns(OpaquePointer(grid), 2)
        gtk_grid_view_set_single_click_activate(OpaquePointer(grid), 1)
        // One for all: a text for each picture takes GTK milliseconds when the picture is reused.
        Widgets.setTooltips(of: grid) { [weak self] widget in
            guard let self, let tile = tiles[widget], tile.picture != nil else { return nil }
            return arguments.urls[tile.position].lastPathComponent
        }
        Widgets.connect(grid, "activate") { [weak self] position in self?.open(Int(position)) }
        let scrolled: WidgetPointer = gtk_scrolled_window_new()
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), grid)
        return scrolled
    }

    private func bind(_ picture: TintypePicture, _ position: Int) {
        let url = arguments.urls[position]
        boundTiles += 1
        pendingTiles.insert(position)
        tiles[picture.widget] = Tile(picture: picture, position: position)
        picture.setImage(
            ImageRequest(url, isProgressive: true), failureImage: Self.brokenImage, transition: .crossDissolve(0.2),
            indicator: .spinner
        ) { [weak self] event in
            if case .finished = event { self?.pendingTiles.remove(position) }
        }
    }

    /// True if the grid has been laid out, and the images in its visible part have loaded.
    private var hasLoadedVisibleTiles: Bool {
        guard let grid else { return false }
        var visible = 0
        for tile in tiles.values {
            guard let widget = tile.picture?.widget, gtk_widget_get_mapped(widget) != 0 else { continue }
            var bounds = graphene_rect_t()
            guard gtk_widget_compute_bounds(widget, grid, &bounds) != 0, bounds.size.height > 0,
                bounds.origin.y < Float(gtk_widget_get_height(grid)), bounds.origin.y + bounds.size.height > 0
            else { continue }
            if pendingTiles.contains(tile.position) { return false }
            visible += 1
        }
        return visible > 0
    }

    private func open(_ position: Int) {
        guard arguments.urls.indices.contains(position) else { return }
        let url = arguments.urls[position]
        viewer.open(url)
        show("viewer", title: url.lastPathComponent)
    }

    /// A gray cross.
    private static let brokenImage: Image? = {
        let side = 48
        guard var pixels = try? MutablePixelBuffer(size: PixelSize(width: side, height: side), cleared: true) else {
            return nil
        }
        let bytesPerRow = pixels.bytesPerRow
        pixels.withUnsafeMutableBytes { memory in
            for line in 8..<side - 8 {
                for column in [line, line + 1, side - 1 - line, side - line] {
                    let offset = line * bytesPerRow + column * 4
                    memory.storeBytes(of: 0xFF80_8080, toByteOffset: offset, as: UInt32.self)
                }
            }
        }
        return Image(pixels: pixels.freeze())
    }()

    // MARK: Screenshots

    /// Writes the window when everything that it shows has loaded and every transition has ended.
    private func takeScreenshot(_ file: String) {
        Task {
            repeat { try? await Task.sleep(for: .milliseconds(50)) } while boundTiles == 0 || !pendingTiles.isEmpty
            try? await Task.sleep(for: .milliseconds(600))
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
