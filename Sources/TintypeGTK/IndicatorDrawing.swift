#if GTK
internal import CGTK
internal import TintypeDisplay

/// A spinner or a progress bar, drawn over the image of a widget.
@MainActor final class IndicatorDrawing: ImageIndicator {
    private let style: IndicatorStyle
    private let onChange: () -> Void
    private(set) var isActive = false
    private(set) var fraction: Double?
    private var beginning: Duration?
    private var elapsed = Duration.zero

    /// Creates an indicator; `nil` for a style that there is not.
    init?(_ style: IndicatorStyle, onChange: @escaping () -> Void) {
        guard style == .spinner || style == .progress else { return nil }
        self.style = style
        self.onChange = onChange
    }

    func start() {
        isActive = true
        fraction = nil
        onChange()
    }

    func update(fraction: Double?) {
        guard let fraction else { return }
        self.fraction = fraction
        onChange()
    }

    func stop() {
        isActive = false
        onChange()
    }

    func advance(to time: Duration) {
        let start = beginning ?? time
        beginning = start
        elapsed = time - start
    }

    func draw(_ snapshot: OpaquePointer, _ width: Double, _ height: Double) {
        if style == .spinner {
            drawSpinner(snapshot, width, height)
        } else {
            drawBar(snapshot, width, height)
        }
    }

    /// Twelve spokes; the brightest moves on twelve times a second.
    private func drawSpinner(_ snapshot: OpaquePointer, _ width: Double, _ height: Double) {
        let radius = min(16, min(width, height) / 2)
        let step = Int(elapsed / .milliseconds(1_000.0 / 12)) % 12
        gtk_snapshot_save(snapshot)
        var center = graphene_point_t(x: Float(width / 2), y: Float(height / 2))
        gtk_snapshot_translate(snapshot, &center)
        for spoke in 0..<12 {
            let age = (step - spoke + 12) % 12
            let alpha = Float(1 - Double(age) / 14)
            fill(snapshot, (0.5, 0.5, 0.5, alpha), -radius / 12, -radius, radius / 6, radius / 2)
            gtk_snapshot_rotate(snapshot, 30)
        }
        gtk_snapshot_restore(snapshot)
    }

    private func drawBar(_ snapshot: OpaquePointer, _ width: Double, _ height: Double) {
        let length = min(160, width * 0.7)
        let thickness = min(6, height / 4)
        let (x, y) = ((width - length) / 2, (height - thickness) / 2)
        fill(snapshot, (0.5, 0.5, 0.5, 0.35), x, y, length, thickness)
        if let fraction {
            fill(snapshot, (0.21, 0.52, 0.89, 1), x, y, length * fraction, thickness)
        } else {
            // A block that goes to and fro, as long as the size is unknown.
            let phase = (elapsed / .milliseconds(2_000)).truncatingRemainder(dividingBy: 1)
            let place = phase < 0.5 ? phase * 2 : 2 - phase * 2
            fill(snapshot, (0.21, 0.52, 0.89, 1), x + place * length * 0.75, y, length * 0.25, thickness)
        }
    }

    private func fill(
        _ snapshot: OpaquePointer, _ color: (Float, Float, Float, Float), _ x: Double, _ y: Double, _ width: Double,
        _ height: Double
    ) {
        var rgba = GdkRGBA(red: color.0, green: color.1, blue: color.2, alpha: color.3)
        var rect = Placement.rect(x, y, width, height)
        gtk_snapshot_append_color(snapshot, &rgba, &rect)
    }
}
#endif
