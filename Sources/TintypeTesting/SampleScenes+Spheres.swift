internal import Glibc
internal import TintypeLoading

extension SampleScene {
    private struct Sphere {
        var center: SIMD3<Float>
        var radius: Float
        var color: SampleColor
    }

    /// Draws glossy spheres on a checkered floor: hard edges, highlights and soft gradients in a single picture.
    static func spheres(_ size: PixelSize) throws(ImageError) -> PixelBuffer {
        let middle = Float(size.width) / Float(size.height) / 2
        return try SampleCanvas.paint(size) { x, y in
            let direction = normalized(SIMD3((x - middle) * 1.15, (0.42 - y) * 1.15, 1))
            return trace(SIMD3(0, 0.75, -3.2), direction, bounces: 2)
        }
    }

    private static let scene: [Sphere] = [
        Sphere(center: SIMD3(-1.25, 0.10, 1.0), radius: 0.75, color: rgb(0.86, 0.20, 0.22)),
        Sphere(center: SIMD3(0.35, 0.35, 1.7), radius: 1.0, color: rgb(0.95, 0.72, 0.20)),
        Sphere(center: SIMD3(1.55, -0.10, 0.6), radius: 0.55, color: rgb(0.14, 0.52, 0.62)),
        Sphere(center: SIMD3(0.15, -0.37, 0.0), radius: 0.28, color: rgb(0.92, 0.92, 0.95)),
        Sphere(center: SIMD3(-0.55, -0.45, -0.4), radius: 0.2, color: rgb(0.35, 0.62, 0.28)),
    ]
    private static let floor: Float = -0.65
    private static let light = normalized(SIMD3<Float>(-0.55, 0.9, -0.5))

    private static func trace(_ origin: SIMD3<Float>, _ direction: SIMD3<Float>, bounces: Int) -> SampleColor {
        var nearest = Float.infinity
        var hit: Sphere?
        for sphere in scene {
            if let distance = distance(origin, direction, sphere), distance < nearest {
                nearest = distance
                hit = sphere
            }
        }
        let sky = mix(rgb(0.93, 0.94, 0.96), rgb(0.42, 0.58, 0.78), direction.y * 1.4 + 0.1)
        let toFloor = (floor - origin.y) / direction.y
        if toFloor > 0.001, toFloor < nearest {
            let point = origin + direction * toFloor
            let isDark = (Int(point.x.rounded(.down)) + Int(point.z.rounded(.down))) & 1 == 0
            let tile = isDark ? rgb(0.30, 0.34, 0.40) : rgb(0.86, 0.85, 0.82)
            let ground = tile * (0.35 + 0.65 * lit(point)) * rgb(1, 1, 1, 0) + rgb(0, 0, 0, 1)
            var color = mix(ground, sky, smoothstep(4, 16, toFloor))
            if bounces > 0 {
                let mirrored = trace(point, direction * SIMD3(1, -1, 1), bounces: bounces - 1)
                color = mix(color, mirrored, 0.22)
            }
            return color
        }
        guard let hit else { return sky }
        let point = origin + direction * nearest
        let normal = (point - hit.center) / hit.radius
        let facing = max(0, dot(normal, light))
        let shade = 0.26 + 0.74 * facing * lit(point + normal * 0.002)
        var color = hit.color * shade * rgb(1, 1, 1, 0) + rgb(0, 0, 0, 1)
        let reflected = direction - normal * (2 * dot(direction, normal))
        if bounces > 0 {
            let edge = powf(1 - max(0, -dot(direction, normal)), 4)
            color = mix(color, trace(point + normal * 0.002, reflected, bounces: bounces - 1), 0.10 + 0.55 * edge)
        }
        return color + rgb(1, 1, 1, 0) * powf(max(0, dot(reflected, light)), 60) * 0.9
    }

    /// Returns the light at a point, with soft shadows.
    private static func lit(_ point: SIMD3<Float>) -> Float {
        var light: Float = 1
        for sphere in scene {
            let toCenter = sphere.center - point
            let along = dot(toCenter, Self.light)
            guard along > 0 else { continue }
            let offAxis = (dot(toCenter, toCenter) - along * along).squareRoot()
            light *= smoothstep(sphere.radius - 0.10, sphere.radius + 0.10, offAxis)
        }
        return light
    }

    private static func distance(_ origin: SIMD3<Float>, _ direction: SIMD3<Float>, _ sphere: Sphere) -> Float? {
        let offset = origin - sphere.center
        let b = dot(offset, direction)
        let root = b * b - dot(offset, offset) + sphere.radius * sphere.radius
        guard root > 0 else { return nil }
        let distance = -b - root.squareRoot()
        return distance > 0.001 ? distance : nil
    }

    private static func dot(_ a: SIMD3<Float>, _ b: SIMD3<Float>) -> Float { (a * b).sum() }

    private static func normalized(_ vector: SIMD3<Float>) -> SIMD3<Float> {
        vector / dot(vector, vector).squareRoot()
    }
}
