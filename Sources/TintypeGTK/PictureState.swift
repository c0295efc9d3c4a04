#if GTK
internal import CGTK
internal import TintypeDisplay

/// The images of a widget that shows them in its faces.
@MainActor final class PictureState: WidgetState, ImageDisplay {
    private let manager: ImageManager?
    var playsAnimations = true
    var decodeSize: PixelSize?
    private let face: (ImageSlot) -> Face?

    /// - Parameter face: returns the face that shows a slot.
    init(
        _ widget: WidgetPointer, manager: ImageManager?, faces: [Face], face: @escaping (ImageSlot) -> Face?
    ) {
        self.manager = manager
        self.face = face
        super.init(widget, faces: faces)
    }

    override func makeBinding() -> ImageBinding { ImageBinding(self, manager: manager) }

    private func content(_ slot: ImageSlot) -> FaceContent? { face(slot)?.content(of: slot) }

    private func scale(of image: Image) -> Double {
        // Thumbnails were made for the screen's pixels.
        decodeSize == nil ? image.scale : max(image.scale, scaleFactor)
    }

    func adapted(_ request: ImageRequest, for slot: ImageSlot) -> ImageRequest {
        guard let decodeSize, request.thumbnailSize == nil else { return request }
        var request = request
        request.thumbnailSize = PixelSize(
            width: Int(min(1e6, Double(decodeSize.width) * scaleFactor)),
            height: Int(min(1e6, Double(decodeSize.height) * scaleFactor)))
        return request
    }

    func show(_ content: DisplayedImage?, in slot: ImageSlot) {
        self.content(slot)?.show(
            content?.image, scale: content.map { scale(of: $0.image) } ?? 1, plays: playsAnimations)
        needsTick()
    }

    func show(
        _ content: DisplayedImage, in slot: ImageSlot, with transition: ImageTransition,
        completion: @escaping @MainActor (Bool) -> Void
    ) {
        guard let place = self.content(slot), widget != nil else { return completion(false) }
        place.show(content.image, scale: scale(of: content.image), with: transition, completion: completion)
        needsTick()
    }

    func indicator(_ style: IndicatorStyle, in slot: ImageSlot) -> (any ImageIndicator)? {
        let indicator = IndicatorDrawing(style) { [weak self] in self?.needsTick() }
        content(slot)?.indicator = indicator
        return indicator
    }

    func playsAnimations(in slot: ImageSlot) -> Bool { playsAnimations }

    func play(_ animation: AnimatedImage, in slot: ImageSlot) {
        content(slot)?.play(animation) { [bell] in bell.ring() }
        updateVisibility()
    }

    func player(in slot: ImageSlot) -> AnimatedImagePlayer? { content(slot)?.player }
}
#endif
