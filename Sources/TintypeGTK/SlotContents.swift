#if GTK
internal import CGTK
internal import Glibc
internal import TintypeDisplay

/// The contents of a slot of a widget: an image, the image that it replaces, an animation, and an indicator.
@MainActor final class SlotContents {
    /// The need of contents for another frame.
    enum Need {
        case nothing
        case nextFrame
        case after(Duration)
    }

    private struct Transition {
        var transition: ImageTransition
        var previous: ScaledTexture?
        var start: Duration?
        var fraction = 0.0
        var completion: @MainActor (Bool) -> Void
    }

    private(set) var texture: ScaledTexture?
    /// True if the slot was emptied, and shows what stands in for an image.
    var isEmptied = false
    private var image: Image?
    private(set) var player: AnimatedImagePlayer?
    private var changeHandler = 0
    var indicator: IndicatorDrawing?
    private var transition: Transition?
    private var scale = 1.0

    /// Shows an image at once; `nil` shows nothing. What is shown already stays, and goes on playing.
    func show(_ image: Image?, scale: Double) {
        // Told last: the program may show another image then.
        let ended = transition.take()
        defer { ended?.completion(false) }
        isEmptied = image == nil
        guard !isShown(image, scale: scale) else { return }
        if player == nil || player?.image !== image?.animation || scale != self.scale {
            releasePlayer()
            texture = image.flatMap { ScaledTexture($0.pixels, scale: scale) }
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
        let ended = self.transition.take()
        show(image, scale: scale)
        defer { ended?.completion(false) }
        guard transition.duration > .zero, !isShown else { return completion(true) }
        self.transition = Transition(transition: transition, previous: previous, completion: completion)
    }

    /// - Parameters:
    ///   - reducesMotion: true to show the first frame until the player is told to play.
    ///   - onChange: called on any thread when the player may have something new to show, as after its `play()`.
    func play(
        _ animation: AnimatedImage, _ settings: PlaybackSettings, reducesMotion: Bool,
        onChange: @escaping @Sendable () -> Void
    ) {
        // The program may play an animation in place of the image.
        if image?.animation !== animation { (image, scale) = (nil, animation.poster.scale) }
        guard player?.image !== animation else { return }
        releasePlayer()
        if texture == nil { texture = ScaledTexture(animation.poster.pixels, scale: scale) }
        let player = AnimatedImagePlayer(animation, isPlaying: settings.isAutomatic && !reducesMotion)
        if settings.isAutomatic, reducesMotion { player.isStilled = true }
        settings.apply(to: player)
        changeHandler = player.changes.add(onChange)
        self.player = player
    }

    /// Leaves the player to the program, which may have kept it.
    private func releasePlayer() {
        guard let player = player.take() else { return }
        player.changes.remove(changeHandler)
        player.isSuspended = false
    }

    /// Shows the new image of a transition that is under way.
    func endTransition(isFinished: Bool) {
        guard let ended = transition.take() else { return }
        ended.completion(isFinished)
    }

    /// Moves everything to a time.
    /// - Returns: true if there is something new to draw, and the need for another call.
    func advance(to time: Duration, isStill: Bool) -> (isNew: Bool, Need) {
        var (isNew, need) = (false, Need.nothing)
        if let player {
            let update = player.advance(to: time)
            if update.isNew, let frame = update.frame {
                texture = ScaledTexture(frame.pixels, scale: scale)
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
        if let indicator, indicator.isActive, !isStill {
            indicator.advance(to: time)
            isNew = true
            need = .nextFrame
        }
        return (isNew, need)
    }

    // MARK: Drawing

    func draw(_ snapshot: OpaquePointer, _ width: Double, _ height: Double, _ fit: GtkContentFit) {
        func append(_ texture: ScaledTexture?, dx: Double = 0, dy: Double = 0) {
            guard let texture else { return }
            var place = Placement.moved(
                Placement.place(texture.size, width: width, height: height, fit: fit), dx, dy)
            gtk_snapshot_append_texture(snapshot, texture.texture.pointer, &place)
        }
        if let transition {
            draw(transition, snapshot, width, height, append)
        } else {
            append(texture)
        }
        if let indicator, indicator.isActive { indicator.draw(snapshot, width, height) }
    }

    /// - Parameter append: draws an image where the widget shows it, or beside that.
    private func draw(
        _ transition: Transition, _ snapshot: OpaquePointer, _ width: Double, _ height: Double,
        _ append: (ScaledTexture?, _ dx: Double, _ dy: Double) -> Void
    ) {
        let fraction = transition.fraction
        switch transition.transition.effect {
        case .crossDissolve:
            gtk_snapshot_push_cross_fade(snapshot, fraction)
            append(transition.previous, 0, 0)
            gtk_snapshot_pop(snapshot)
            append(texture, 0, 0)
            gtk_snapshot_pop(snapshot)
        case .slide(let edge):
            let (dx, dy) = (edge.direction.x * width, edge.direction.y * height)
            var bounds = Placement.rect(0, 0, width, height)
            gtk_snapshot_push_clip(snapshot, &bounds)
            append(transition.previous, -dx * fraction, -dy * fraction)
            append(texture, dx * (1 - fraction), dy * (1 - fraction))
            gtk_snapshot_pop(snapshot)
        case .flip(let edge):
            let isSideways = edge.direction.y == 0
            // The old image turns until only its edge is seen, and then the new one. Without perspective, which not all renderers of GTK have.
            let isOld = fraction < 0.5
            let length = Float(max(0.001, abs(cos(fraction * .pi))))
            var center = graphene_point_t(x: Float(width / 2), y: Float(height / 2))
            var back = graphene_point_t(x: -center.x, y: -center.y)
            gtk_snapshot_save(snapshot)
            gtk_snapshot_translate(snapshot, &center)
            gtk_snapshot_scale(snapshot, isSideways ? length : 1, isSideways ? 1 : length)
            gtk_snapshot_translate(snapshot, &back)
            append(isOld ? transition.previous : texture, 0, 0)
            gtk_snapshot_restore(snapshot)
        }
    }
}

extension ImageTransition.Edge {
    /// The direction from the middle to the edge.
    fileprivate var direction: (x: Double, y: Double) {
        switch self {
        case .left: (-1, 0)
        case .right: (1, 0)
        case .top: (0, -1)
        case .bottom: (0, 1)
        }
    }
}
#endif
