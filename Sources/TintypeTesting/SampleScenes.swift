internal import Glibc
internal import TintypeLoading

/// Landscapes and other pictures with the gradients and the detail of photographs.
enum SampleScene: String, CaseIterable, Sendable {
    case mountains, sea, spheres, aurora, dunes, julia

    func draw(_ size: PixelSize) throws(ImageError) -> PixelBuffer {
        switch self {
        case .mountains: try Self.mountains(size)
        case .sea: try Self.sea(size)
        case .spheres: try Self.spheres(size)
        case .aurora: try Self.aurora(size)
        case .dunes: try Self.dunes(size)
        case .julia: try Self.julia(size)
        }
    }

    /// Returns the height of a mountain range for each column, from 0 to 1.
    private static func profile(_ size: PixelSize, seed: Float, frequency: Float, octaves: Int) -> [Float] {
        (0..<size.width).map {
            SampleNoise.fractal(Float($0) / Float(size.height) * frequency + seed, seed, octaves: octaves)
        }
    }

    private static func mountains(_ size: PixelSize) throws(ImageError) -> PixelBuffer {
        let unit = 1 / Float(size.height)
        let sun = (x: Float(size.width) * unit * 0.68, y: Float(0.24))
        let ranges = (0..<6).map { layer in
            profile(size, seed: Float(layer) * 31.7 + 3, frequency: 1.5 + Float(layer) * 0.6, octaves: 8)
                .map { max(0, min(1, ($0 - 0.5) * 2.1 + 0.5)) }
        }
        let far = rgb(0.56, 0.56, 0.72)
        let near = rgb(0.04, 0.09, 0.11)
        return try SampleCanvas.draw(size) { column, row in
            let x = Float(column) * unit
            let y = Float(row) * unit
            let distance = hypot(x - sun.x, y - sun.y)
            var color = mix(rgb(0.22, 0.38, 0.68), rgb(0.99, 0.78, 0.60), powf(y * 1.8, 1.1))
            let cloud = SampleNoise.fractal(x * 1.8, y * 10, octaves: 5)
            color = mix(color, rgb(1, 0.90, 0.84), smoothstep(0.52, 0.80, cloud) * smoothstep(0.45, 0.05, y) * 0.7)
            color += rgb(1, 0.70, 0.36, 0) * (0.6 * exp(-distance * 5.5))
            color = mix(color, rgb(1, 0.97, 0.86), smoothstep(0.048, 0.044, distance))
            for (layer, heights) in ranges.enumerated() {
                let depth = Float(layer) / 5
                let edge = 0.56 + depth * 0.40 - heights[column] * (0.40 - depth * 0.24)
                let inside = smoothstep(edge, edge + unit * 1.5, y)
                guard inside > 0 else { continue }
                let slope = SampleNoise.fractal(x * 30 + y * 22, y * 40 + Float(layer) * 7, octaves: 4) - 0.47
                var rock = mix(far, near, powf(depth, 0.7)) + rgb(1, 1, 1, 0) * (slope * (0.10 + depth * 0.10))
                if layer < 2 {
                    let snow = smoothstep(0.40, 0.30, y + slope * 0.45 + depth * 0.3)
                    rock = mix(rock, rgb(0.99, 0.93, 0.92), snow * 0.9)
                }
                let haze = (1 - depth) * smoothstep(0.02, 0.34, y - edge)
                color = mix(color, mix(rock, rgb(0.95, 0.80, 0.72), haze * 0.75), inside)
            }
            return color
        }
    }

    private static func sea(_ size: PixelSize) throws(ImageError) -> PixelBuffer {
        let middle = Float(size.width) / Float(size.height) / 2
        let horizon: Float = 0.52
        func sky(_ x: Float, _ y: Float) -> SampleColor {
            let t = y / horizon
            var color = mix(rgb(0.16, 0.13, 0.36), rgb(0.95, 0.42, 0.36), smoothstep(0, 0.85, t))
            color = mix(color, rgb(1, 0.80, 0.45), smoothstep(0.65, 1.05, t))
            let distance = hypot(x - middle, y - horizon + 0.07)
            color += rgb(1, 0.55, 0.25, 0) * (0.5 * exp(-distance * 6))
            color = mix(color, rgb(1, 0.95, 0.78), smoothstep(0.105, 0.100, distance))
            let cloud = SampleNoise.fractal(x * 1.7 + 4, y * 13, octaves: 5)
            return mix(color, rgb(0.45, 0.18, 0.38), smoothstep(0.48, 0.75, cloud) * smoothstep(0.02, 0.2, y) * 0.75)
        }
        return try SampleCanvas.paint(size) { x, y in
            guard y > horizon else { return sky(x, y) }
            let depth = y - horizon
            let scale = 1 / (depth + 0.025)
            let wave = SampleNoise.fractal(x * scale * 0.55 + 9, depth * 90 + scale * 2, octaves: 4) - 0.47
            let mirrored = sky(x + wave * 0.10, max(0, horizon - depth * 0.8 - wave * 0.35))
            let water = mix(mirrored * rgb(0.72, 0.66, 0.78), rgb(0.07, 0.09, 0.22), smoothstep(0, 0.5, depth) * 0.75)
            let glitter = smoothstep(0.08, 0.22, wave) * exp(-abs(x - middle) * (9 - depth * 8))
            return mix(water, rgb(1, 0.88, 0.60), glitter)
        }
    }

    private static func aurora(_ size: PixelSize) throws(ImageError) -> PixelBuffer {
        let trees = profile(size, seed: 77, frequency: 5, octaves: 3)
        let unit = 1 / Float(size.height)
        return try SampleCanvas.draw(size) { column, row in
            let x = Float(column) * unit
            let y = Float(row) * unit
            var color = mix(rgb(0.01, 0.02, 0.08), rgb(0.04, 0.13, 0.20), y)
            let cell = (x: Int(x * 70), y: Int(y * 70))
            let star = SampleNoise.hash(cell.x, cell.y &+ 911)
            if star > 0.93 {
                let offset = (x: SampleNoise.hash(cell.x, cell.y + 5), y: SampleNoise.hash(cell.x + 5, cell.y))
                let distance = hypot(x * 70 - Float(cell.x) - offset.x, y * 70 - Float(cell.y) - offset.y)
                color += rgb(1, 0.97, 0.9, 0) * (smoothstep(0.16, 0, distance) * (star - 0.92) * 12)
            }
            for band in 0..<3 {
                let phase = Float(band) * 2.1
                let base =
                    0.62 - Float(band) * 0.13 + 0.09 * sin(x * 3.1 + phase)
                    + 0.12 * (SampleNoise.fractal(x * 1.5 + phase, phase, octaves: 3) - 0.45)
                let rays = 0.45 + 0.75 * SampleNoise.fractal(x * 22 + phase * 9, y * 0.9, octaves: 3)
                let above = base - y
                let light = (above > 0 ? exp(-above * 4.2) : exp(above * 42)) * rays * (0.75 - Float(band) * 0.17)
                color += mix(rgb(0.10, 0.95, 0.50, 0), rgb(0.58, 0.18, 0.80, 0), above * 3.0) * light
            }
            let spike = abs((x * 34 + trees[column] * 3).truncatingRemainder(dividingBy: 1) - 0.5)
            let edge = 0.93 - trees[column] * 0.22 + spike * 0.055
            return mix(color, rgb(0.005, 0.015, 0.025), smoothstep(edge, edge + unit * 2, y))
        }
    }

    private static func dunes(_ size: PixelSize) throws(ImageError) -> PixelBuffer {
        try SampleCanvas.paint(size) { x, y in
            var color = mix(rgb(0.36, 0.62, 0.86), rgb(0.93, 0.90, 0.80), y * 2)
            for layer in 0..<5 {
                let depth = Float(layer) / 4
                let phase = Float(layer) * 2.4 + 0.6
                let bend = x * (1.5 + depth * 0.6) + phase
                let edge = 0.40 + depth * 0.40 + 0.07 * sin(bend) + 0.035 * sin(bend * 2.3 + phase)
                guard y > edge else { continue }
                // A crest runs along each dune, with a side that is in shadow.
                let crest =
                    x - 0.35 * Float(layer) - 0.25 - (y - edge) * (1.4 - depth * 0.3) - 0.05 * sin(y * 22 + phase)
                let lit = smoothstep(-0.02, 0.015, sin(crest * 2.6))
                let ripples = sin((y - edge) * 260 / (0.6 + depth) + sin(x * 9 + phase) * 2.5) * 0.022 * depth
                let sand = mix(rgb(0.52, 0.26, 0.17), rgb(0.97, 0.70, 0.40), lit * 0.85 + 0.1)
                color = mix(sand + rgb(1, 1, 1, 0) * ripples, rgb(0.95, 0.82, 0.68), (1 - depth) * 0.5)
            }
            return color
        }
    }

    private static func julia(_ size: PixelSize) throws(ImageError) -> PixelBuffer {
        let middle = Float(size.width) / Float(size.height) / 2
        return try SampleCanvas.paint(size) { x, y in
            var real = (x - middle) * 2.3
            var imaginary = (y - 0.5) * 2.3
            var count: Float = 0
            while real * real + imaginary * imaginary < 64, count < 160 {
                (real, imaginary) = (real * real - imaginary * imaginary - 0.79, 2 * real * imaginary + 0.155)
                count += 1
            }
            if count >= 160 { return rgb(0.03, 0.02, 0.09) }
            let t = (count + 1 - log2(log2(max(4, real * real + imaginary * imaginary)) / 2)) * 0.047
            func wave(_ phase: Float) -> Float { 0.5 - 0.5 * cos(6.2832 * (t + phase)) }
            return mix(rgb(0.06, 0.05, 0.20), rgb(wave(0), wave(-0.10), wave(-0.24)), smoothstep(0, 0.35, t) * 0.98)
        }
    }
}
