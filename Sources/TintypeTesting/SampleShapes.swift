internal import Glibc
internal import TintypeLoading

/// Pictures with transparency, with few colors, and the frames of animations.
enum SampleShapes {
    /// Draws all hues in a ring that is transparent inside and outside.
    static func colorWheel(_ size: PixelSize) throws(ImageError) -> PixelBuffer {
        try centered(size) { x, y, unit in
            let radius = hypot(x, y)
            let alpha = smoothstep(0.96, 0.96 - unit, radius) * smoothstep(0.42 - unit, 0.42, radius)
            let color = hue(atan2(y, x) / 6.2832)
            return color * rgb(1, 1, 1, 0) + rgb(0, 0, 0, alpha)
        }
    }

    /// Draws a flower with translucent petals.
    static func flower(_ size: PixelSize) throws(ImageError) -> PixelBuffer {
        try centered(size) { x, y, unit in
            let radius = hypot(x, y)
            let angle = atan2(y, x)
            var color = rgb(0.98, 0.55, 0.75, 0)
            for ring in 0..<3 {
                let petals = abs(cos(angle * 3 + Float(ring) * 0.52))
                let edge = (0.95 - Float(ring) * 0.22) * (0.35 + 0.65 * petals)
                let alpha = smoothstep(edge, edge - unit * 2, radius) * (0.62 + 0.16 * Float(ring))
                let petal = mix(rgb(0.55, 0.16, 0.62), rgb(1, 0.66, 0.72), radius / edge)
                color = over(rgb(petal.x, petal.y, petal.z, alpha), color)
            }
            return over(rgb(1, 0.82, 0.24, smoothstep(0.16, 0.16 - unit * 2, radius)), color)
        }
    }

    /// Draws an arrow that points up, beside a dot in the top right corner, so that wrong rotations are visible.
    static func arrow(_ size: PixelSize) throws(ImageError) -> PixelBuffer {
        let aspect = Float(size.width) / Float(size.height)
        return try SampleCanvas.paint(size) { x, y in
            let u = x / aspect
            var color = mix(rgb(0.10, 0.42, 0.60), rgb(0.88, 0.93, 0.86), y)
            let inHead = y > 0.16 && y < 0.46 && abs(u - 0.5) * 1.25 < (y - 0.16) * 0.8
            let inShaft = y >= 0.46 && y < 0.84 && abs(u - 0.5) < 0.085
            if inHead || inShaft { color = rgb(0.99, 0.98, 0.94) }
            return mix(color, rgb(0.95, 0.42, 0.20), smoothstep(0.085, 0.075, hypot(x - aspect + 0.15, y - 0.15)))
        }
    }

    /// Draws a picture in a rounded square, for an icon.
    static func icon(_ size: PixelSize) throws(ImageError) -> PixelBuffer {
        try centered(size) { x, y, unit in
            let corner = hypot(max(abs(x) - 0.62, 0), max(abs(y) - 0.62, 0))
            var color = mix(rgb(0.98, 0.72, 0.38), rgb(0.86, 0.28, 0.42), (y + 1) / 2)
            color = mix(color, rgb(1, 0.96, 0.80), smoothstep(0.26, 0.26 - unit, hypot(x - 0.35, y + 0.38)))
            let hill = 0.30 - 0.62 * max(0, 1 - abs(x + 0.28) * 1.5)
            color = mix(color, rgb(0.30, 0.14, 0.36), smoothstep(hill, hill + unit, y))
            let slope = 0.52 - 0.36 * max(0, 1 - abs(x - 0.42) * 1.7)
            color = mix(color, rgb(0.18, 0.08, 0.26), smoothstep(slope, slope + unit, y))
            return rgb(color.x, color.y, color.z, smoothstep(0.33, 0.33 - unit, corner))
        }
    }

    /// Draws a pinwheel at a time from 0 to 1 of its rotation.
    static func pinwheel(_ size: PixelSize, at time: Float) throws(ImageError) -> PixelBuffer {
        let colors = [
            rgb(0.89, 0.26, 0.24), rgb(0.98, 0.74, 0.20), rgb(0.18, 0.62, 0.52), rgb(0.16, 0.38, 0.66),
        ]
        return try centered(size) { x, y, unit in
            let radius = hypot(x, y)
            guard radius < 0.92 else { return rgb(0.95, 0.95, 0.92) }
            // A quarter of a rotation shows the same picture again.
            let turn = atan2(y, x) / 6.2832 + 1 + time + radius * 0.16
            let blade = (turn * 8).truncatingRemainder(dividingBy: 8)
            let color = colors[Int(blade / 2) & 3]
            let shaded = blade.truncatingRemainder(dividingBy: 2) < 1 ? color : mix(color, rgb(1, 1, 1), 0.35)
            return radius < 0.09 ? rgb(0.20, 0.20, 0.24) : shaded
        }
    }

    /// Draws rings that spread from the center on a transparent background.
    static func ripple(_ size: PixelSize, at time: Float) throws(ImageError) -> PixelBuffer {
        try centered(size) { x, y, unit in
            let radius = hypot(x, y)
            var color = rgb(0.10, 0.55, 0.75, 0)
            for ring in 0..<3 {
                let phase = (time + Float(ring) / 3).truncatingRemainder(dividingBy: 1)
                let edge = 0.08 + phase * 0.84
                let line = smoothstep(0.075, 0.075 - unit * 3, abs(radius - edge))
                color = over(rgb(0.12 + phase * 0.5, 0.52, 0.86 - phase * 0.2, line * (1 - phase)), color)
            }
            return over(rgb(0.95, 0.40, 0.30, smoothstep(0.1, 0.1 - unit * 2, radius)), color)
        }
    }

    /// Draws the dots of an activity indicator on a transparent background.
    static func spinner(_ size: PixelSize, at time: Float) throws(ImageError) -> PixelBuffer {
        try centered(size) { x, y, unit in
            var color = rgb(0.35, 0.30, 0.75, 0)
            for dot in 0..<10 {
                let part = Float(dot) / 10
                let angle = part * 6.2832
                let age = (part - time + 1).truncatingRemainder(dividingBy: 1)
                let distance = hypot(x - cos(angle) * 0.7, y - sin(angle) * 0.7)
                let radius = 0.07 + 0.10 * age
                let fill = mix(rgb(0.70, 0.72, 0.92), rgb(0.32, 0.24, 0.72), age)
                color = over(rgb(fill.x, fill.y, fill.z, smoothstep(radius, radius - unit * 2, distance)), color)
            }
            return color
        }
    }

    /// Draws bars in the eight colors of early computers.
    static func bars(_ size: PixelSize) throws(ImageError) -> PixelBuffer {
        let colors = (0..<8).map { (index: Int) -> SampleColor in
            let red = index & 2 == 0 ? 0 : 1
            let green = index & 4 == 0 ? 0 : 1
            return rgb(Float(red), Float(green), Float(index & 1))
        }
        return try SampleCanvas.draw(size) { x, y in
            let column = 7 - x * 8 / size.width
            if y * 4 < size.height * 3 { return mix(rgb(0.06, 0.06, 0.08), colors[column], 0.9) }
            let gray = Float(x * 16 / size.width) / 15
            return rgb(gray, gray, gray)
        }
    }

    // MARK: Inside

    /// Returns coordinates from -1 to 1 with (0, 0) in the center, and the width of a pixel.
    private static func centered(
        _ size: PixelSize, _ color: (_ x: Float, _ y: Float, _ unit: Float) -> SampleColor
    ) throws(ImageError) -> PixelBuffer {
        let half = Float(min(size.width, size.height)) / 2
        return try SampleCanvas.draw(size) { x, y in
            color(
                (Float(x) + 0.5 - Float(size.width) / 2) / half, (Float(y) + 0.5 - Float(size.height) / 2) / half,
                1 / half)
        }
    }

    private static func hue(_ turn: Float) -> SampleColor {
        func part(_ offset: Float) -> Float {
            let position = (turn + offset + 2).truncatingRemainder(dividingBy: 1) * 6
            return max(0, min(1, abs(position - 3) - 1))
        }
        return rgb(part(0), part(2 / 3), part(1 / 3))
    }

    /// Returns a color over another, neither premultiplied.
    private static func over(_ top: SampleColor, _ bottom: SampleColor) -> SampleColor {
        let alpha = top.w + bottom.w * (1 - top.w)
        guard alpha > 0 else { return bottom }
        let color = (top * top.w + bottom * (bottom.w * (1 - top.w))) / alpha
        return rgb(color.x, color.y, color.z, alpha)
    }
}
