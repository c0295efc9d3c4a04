#if GTK
internal import CGTK
internal import TintypeDisplay

/// The contents of one slot of a widget: an image, the image that it replaces, an animation, and an indicator.
@MainActor final class FaceContent {
    /// The need of contents for another frame.
    enum Need {
        case nothing
        case nextFrame
        case after(Duration)
    }

    private struct Transition {
        var transition: ImageTransition
        var previous: Texture?
        var start: Duration?
        var fraction = 0.0
        var completion: @MainActor (Bool) -> Void
    }

    private(set) var texture: Texture?
    private var image: Image?
    private(set) var player: AnimatedImagePlayer?
    private var waker = 0
    var indicator: IndicatorDrawing?
    private var transition: Transition?
    private var scale = 1.0

    /// Shows an image at once; `nil` shows nothing. What is shown already stays, and goes on playing.
    /// - Parameter plays: false to stop what plays.
    func show(_ image: Image?, scale: Double, plays: Bool = true) {
        endTransition(isFinished: false)
        guard !isShown(image, scale: scale) || player != nil && !plays else { return }
        if player == nil || !plays || player?.image !== image?.animation || scale != self.scale {
            releasePlayer()
            texture = image.flatMap { Texture($0.pixels, scale: scale) }
        }
        (self.image, self.scale) = (image, scale)
    }

    private func isShown(_ image: Image?, scale: Double) -> Bool {
        guard let image, let shown = self.image, scale == self.scale else { return false }
        return shown.isIdentical(to: image)
    }

    func show(
        _ image: Image, scale: Double, with transition: ImageTransition, completion: @escaping @MainActor (Bool) -> Void
    ) {
        let (previous, isShown) = (texture, isShown(image, scale: scale))
        show(image, scale: scale)
        guard transition.duration > .zero, !isShown else { return completion(true) }
        self.transition = Transition(transition: transition, previous: previous, completion: completion)
    }

    /// - Parameter waker: Called on any thread when the player may have something new to show, as after its `play()`.
    func play(_ animation: AnimatedImage, waker: @escaping @Sendable () -> Void) {
        guard player?.image !== animation else { return }
        releasePlayer()
        if texture == nil { texture = Texture(animation.poster.pixels, scale: scale) }
        let player = AnimatedImagePlayer(animation)
        self.waker = player.wakers.add(waker)
        self.player = player
    }

    /// Leaves the player to the program, which may have kept it.
    private func releasePlayer() {
        guard let player = player.take() else { return }
        player.wakers.remove(waker)
        player.isSuspended = false
    }

    /// Shows the new image of a transition that is under way.
    func endTransition(isFinished: Bool) {
        guard let ended = transition.take() else { return }
        ended.completion(isFinished)
    }

    /// Moves everything to a time.
    /// - Returns: true if there is something new to draw, and the need for another call.
    func advance(to time: Duration) -> (isNew: Bool, Need) {
        var (isNew, need) = (false, Need.nothing)
        if let player {
            let update = player.advance(to: time)
            if update.isNew, let frame = update.frame {
                texture = Texture(frame.pixels, scale: scale)
                isNew = true
            }
            if let delay = update.delay {
                need = delay > .milliseconds(60) ? .after(delay) : .nextFrame
            } else if player.isMoving, !update.isWaiting {
                need = .nextFrame
            }
        }
        if var moving = transition {
            let start = moving.start ?? time
            moving.start = start
            moving.fraction = moving.transition.fraction(after: time - start)
            transition = moving
            if moving.fraction >= 1 { endTransition(isFinished: true) } else { need = .nextFrame }
            isNew = true
        }
        if let indicator, indicator.isActive {
            indicator.advance(to: time)
            isNew = true
            need = .nextFrame
        }
        return (isNew, need)
    }

    // MARK: Drawing

    func draw(_ snapshot: OpaquePointer, _ width: Double, _ height: Double) {
        let bounds = Self.rect(0, 0, width, height)
        if let transition {
            draw(transition, snapshot, bounds)
        } else if let texture {
            append(texture, snapshot, bounds)
        }
        if let indicator, indicator.isActive { indicator.draw(snapshot, width, height) }
    }

    private func draw(_ transition: Transition, _ snapshot: OpaquePointer, _ bounds: graphene_rect_t) {
        switch transition.transition.effect {
        case .crossDissolve:
            gtk_snapshot_push_cross_fade(snapshot, transition.fraction)
            if let previous = transition.previous { append(previous, snapshot, Self.fitted(previous, bounds)) }
            gtk_snapshot_pop(snapshot)
            if let texture { append(texture, snapshot, bounds) }
            gtk_snapshot_pop(snapshot)
        case .slide(let edge):
            let (width, height) = (bounds.size.width, bounds.size.height)
            let (dx, dy): (Float, Float) =
                switch edge {
                case .left: (-width, 0)
                case .right: (width, 0)
                case .top: (0, -height)
                case .bottom: (0, height)
                }
            let fraction = Float(transition.fraction)
            withUnsafePointer(to: bounds) { gtk_snapshot_push_clip(snapshot, $0) }
            if let previous = transition.previous {
                let place = Self.fitted(previous, bounds)
                append(previous, snapshot, Self.moved(place, -dx * fraction, -dy * fraction))
            }
            if let texture {
                append(texture, snapshot, Self.moved(bounds, dx * (1 - fraction), dy * (1 - fraction)))
            }
            gtk_snapshot_pop(snapshot)
        }
    }

    private func append(_ texture: Texture, _ snapshot: OpaquePointer, _ bounds: graphene_rect_t) {
        withUnsafePointer(to: bounds) { gtk_snapshot_append_texture(snapshot, texture.pointer, $0) }
    }

    /// The place of a texture in its own proportions, in the middle of a rectangle.
    private static func fitted(_ texture: Texture, _ bounds: graphene_rect_t) -> graphene_rect_t {
        let (width, height) = texture.pointSize
        let (outerWidth, outerHeight) = (Double(bounds.size.width), Double(bounds.size.height))
        let factor = min(outerWidth / width, outerHeight / height)
        return rect(
            (outerWidth - width * factor) / 2, (outerHeight - height * factor) / 2, width * factor, height * factor)
    }

    private static func moved(_ rect: graphene_rect_t, _ dx: Float, _ dy: Float) -> graphene_rect_t {
        var rect = rect
        rect.origin.x += dx
        rect.origin.y += dy
        return rect
    }

    static func rect(_ x: Double, _ y: Double, _ width: Double, _ height: Double) -> graphene_rect_t {
        graphene_rect_t(
            origin: graphene_point_t(x: Float(x), y: Float(y)),
            size: graphene_size_t(width: Float(width), height: Float(height)))
    }
}
#endif
