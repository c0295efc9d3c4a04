#if GTK
import CGTK
import Foundation
import Tintype
import TintypeGTK

/// The thumbnails of all images.
@MainActor final class GridPage {
    let widget: WidgetPointer = gtk_scrolled_window_new()
    private let items = gtk_string_list_new(nil)
    private var urls: [URL] = []
    private var factory: TintypeItemFactory?
    private var pending: Set<Int> = []
    /// The pictures of the grid that have an image, by their widgets, with the positions of the images.
    private var tiles: [WidgetPointer: (picture: TintypePicture, position: Int)] = [:]

    /// The side of a thumbnail in application pixels.
    private static let side: Int32 = 168

    /// - Parameters:
    ///   - loads: false for a grid whose pictures show one texture.
    ///   - open: called with the position of an image that the user chose.
    init(loads: Bool, open: @escaping @MainActor (Int) -> Void) {
        let factory = TintypeItemFactory { picture in
            picture.decodeSize = PixelSize(width: Int(Self.side), height: Int(Self.side))
            picture.failure = .icon("image-missing-symbolic")
            gtk_widget_set_size_request(picture.widget, Self.side, Self.side)
            // The size for which it is decoded, however wide the column is.
            for set in [gtk_widget_set_halign, gtk_widget_set_valign] { set(picture.widget, GTK_ALIGN_CENTER) }
            return picture.widget
        } bind: { [weak self] picture, _, position in
            self?.bind(picture, position)
        } unbind: { [weak self] picture, _ in
            self?.tiles[picture.widget] = nil
        }
        self.factory = factory
        let pointer = loads ? factory.retainedPointer() : PlainGrid.factory(side: Self.side)
        let grid: WidgetPointer = gtk_grid_view_new(gtk_no_selection_new(items), pointer)
        gtk_grid_view_set_max_columns(OpaquePointer(grid), 12)
        gtk_grid_view_set_min_columns(OpaquePointer(grid), 2)
        gtk_grid_view_set_single_click_activate(OpaquePointer(grid), 1)
        Widgets.setName(of: grid, "Images")
        // One for all: a text for each picture takes GTK milliseconds when the picture is reused.
        Widgets.setTooltips(of: grid) { [weak self] widget in
            guard let self, let tile = tiles[widget] else { return nil }
            let name = urls[tile.position].lastPathComponent
            guard case .failure(let error) = tile.picture.imageBinding.phase(), !error.isCancellation else {
                return name
            }
            return "\(name)\n\(error.reason)"
        }
        Widgets.connectNumber(grid, "activate") { position in open(Int(position)) }
        gtk_scrolled_window_set_child(OpaquePointer(widget), grid)
    }

    /// Shows other images.
    func show(_ urls: [URL]) {
        gtk_string_list_splice(items, 0, g_list_model_get_n_items(items), nil)
        pending = []
        self.urls = urls
        // An item for each image; pictures are made with its position.
        for _ in urls { gtk_string_list_append(items, "") }
    }

    private func bind(_ picture: TintypePicture, _ position: Int) {
        guard urls.indices.contains(position) else { return }
        let url = urls[position]
        pending.insert(position)
        tiles[picture.widget] = (picture, position)
        picture.alternativeText = url.lastPathComponent
        if let item = gtk_widget_get_parent(picture.widget) { Widgets.setName(of: item, url.lastPathComponent) }
        var request = ImageRequest(url, isProgressive: true)
        request.decode.allowsPartialImage = true
        picture.setImage(
            request, transition: .crossDissolve(0.2), indicator: .spinner
        ) { [weak self] event in
            if case .finished = event { self?.pending.remove(position) }
        }
    }

    /// True if the grid has been laid out, and the images in its visible part have loaded.
    var hasLoadedVisibleTiles: Bool {
        var visible = 0
        for tile in tiles.values {
            let widget = tile.picture.widget
            var bounds = graphene_rect_t()
            guard gtk_widget_get_mapped(widget) != 0 else { continue }
            guard gtk_widget_compute_bounds(widget, self.widget, &bounds) != 0, bounds.size.height > 0,
                bounds.origin.y < Float(gtk_widget_get_height(self.widget)), bounds.origin.y + bounds.size.height > 0
            else { continue }
            if pending.contains(tile.position) { return false }
            visible += 1
        }
        return visible > 0
    }
}
#endif
