#if GTK
internal import CGTK

/// Rectangles of an image in the area of a picture.
enum Placement {
    static func rect(_ x: Double, _ y: Double, _ width: Double, _ height: Double) -> graphene_rect_t {
        graphene_rect_t(
            origin: graphene_point_t(x: Float(x), y: Float(y)),
            size: graphene_size_t(width: Float(width), height: Float(height)))
    }

    /// Returns the place of an image in the middle of an area, as `GtkPicture` computes it.
    static func place(
        _ size: (width: Double, height: Double), width: Double, height: Double, fit: GtkContentFit
    ) -> graphene_rect_t {
        if fit == GTK_CONTENT_FIT_FILL { return rect(0, 0, width, height) }
        let (horizontal, vertical) = (width / size.width, height / size.height)
        var factor = fit == GTK_CONTENT_FIT_COVER ? max(horizontal, vertical) : min(horizontal, vertical)
        if fit == GTK_CONTENT_FIT_SCALE_DOWN { factor = min(1, factor) }
        // The side that decides has exactly the length of the area.
        let shownWidth = factor == horizontal ? width : size.width * factor
        let shownHeight = factor == vertical ? height : size.height * factor
        let x = ((width - shownWidth.rounded(.up)) / 2).rounded(.towardZero)
        let y = ((height - shownHeight.rounded(.up)) / 2).rounded(.down)
        return rect(x, y, shownWidth, shownHeight)
    }

    static func moved(_ rect: graphene_rect_t, _ dx: Double, _ dy: Double) -> graphene_rect_t {
        var rect = rect
        rect.origin.x += Float(dx)
        rect.origin.y += Float(dy)
        return rect
    }
}
#endif
