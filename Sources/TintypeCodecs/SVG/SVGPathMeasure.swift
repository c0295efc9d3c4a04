#if SVG
/// A path's number of vertices, and a length and a box that it doesn't exceed: those of its control points, in units of the drawing.
struct SVGPathMeasure {
    private(set) var vertices = 0
    private(set) var length = 0.0
    private var least = SIMD2<Double>(repeating: .infinity)
    private var most = SIMD2<Double>(repeating: -.infinity)
    /// The last control point of a curve.
    private var control: SIMD2<Double>?

    private typealias Point = SIMD2<Double>

    /// The sides of the box.
    var box: SIMD2<Double> { least.x <= most.x ? most - least : .zero }

    /// Measures the data of a path (SVG 1.1, section 8.3).
    /// - Complexity: O(bytes)
    init(path bytes: ArraySlice<UInt8>) {
        var place = bytes.startIndex
        var command = UInt8(ascii: "M")
        var (point, start) = (Point.zero, Point.zero)
        while place < bytes.endIndex {
            let byte = bytes[place]
            if (0x41...0x5A).contains(byte & 0xDF) {
                command = byte
                place += 1
                if command | 0x20 == UInt8(ascii: "z") {
                    move(&point, to: start)
                    continue
                }
            } else if SVGNumber.read(bytes, from: place) == nil {
                place += 1
                continue
            }
            let count = Self.numbers(of: command)
            guard count > 0 else {
                // A number that no command takes.
                if let (_, end) = SVGNumber.read(bytes, from: place) { place = end }
                continue
            }
            var values: [Double] = []
            while values.count < count {
                while place < bytes.endIndex, bytes[place] <= 0x20 || bytes[place] == UInt8(ascii: ",") { place += 1 }
                // The flags of an arc need nothing between them.
                if command | 0x20 == UInt8(ascii: "a"), values.count == 3 || values.count == 4,
                    place < bytes.endIndex, bytes[place] == 0x30 || bytes[place] == 0x31
                {
                    values.append(Double(bytes[place] - 0x30))
                    place += 1
                } else if let (value, end) = SVGNumber.read(bytes, from: place) {
                    values.append(value)
                    place = end
                } else {
                    break
                }
            }
            guard values.count == count else { continue }
            draw(command, values, &point)
            if command | 0x20 == UInt8(ascii: "m") {
                start = point
                // Further points are lines.
                command -= 1
            }
        }
    }

    /// Measures the points of a polygon.
    init(points: ArraySlice<UInt8>) {
        let numbers = SVGNumber.all(points)
        guard numbers.count > 1 else { return }
        var point = Point.zero
        begin(&point, at: Point(numbers[0], numbers[1]))
        for index in stride(from: 2, to: numbers.count - 1, by: 2) {
            move(&point, to: Point(numbers[index], numbers[index + 1]))
        }
        move(&point, to: Point(numbers[0], numbers[1]))
    }

    private static func numbers(of command: UInt8) -> Int {
        switch command | 0x20 {
        case UInt8(ascii: "m"), UInt8(ascii: "l"), UInt8(ascii: "t"): 2
        case UInt8(ascii: "h"), UInt8(ascii: "v"): 1
        case UInt8(ascii: "c"): 6
        case UInt8(ascii: "s"), UInt8(ascii: "q"): 4
        case UInt8(ascii: "a"): 7
        default: 0
        }
    }

    private mutating func draw(_ command: UInt8, _ values: [Double], _ point: inout Point) {
        let base = command & 0x20 != 0 ? point : .zero
        switch command | 0x20 {
        case UInt8(ascii: "m"): begin(&point, at: base + Point(values[0], values[1]))
        case UInt8(ascii: "h"): move(&point, to: Point(base.x + values[0], point.y))
        case UInt8(ascii: "v"): move(&point, to: Point(point.x, base.y + values[0]))
        case UInt8(ascii: "a"):
            // Radii grow where the end would be out of reach, up to the distance.
            let end = base + Point(values[5], values[6])
            let distance = Self.distance(point, end)
            let radius = max(abs(values[0]), abs(values[1]), distance)
            length += 7 * radius
            for corner in [point - 2 * radius, point + 2 * radius] { include(corner) }
            move(&point, to: end)
        default:
            var last = point
            // The mirrored control point, where the command has none of its own.
            if [UInt8(ascii: "s"), UInt8(ascii: "t")].contains(command | 0x20) {
                let mirrored = point + point - (control ?? point)
                length += Self.distance(last, mirrored)
                (last, control) = (mirrored, mirrored)
                include(mirrored)
            }
            for index in stride(from: 0, to: values.count - 1, by: 2) {
                let next = base + Point(values[index], values[index + 1])
                if index + 4 == values.count { control = next }
                length += Self.distance(last, next)
                last = next
                include(next)
            }
            if command | 0x20 == UInt8(ascii: "l") { control = nil }
            vertices += 1
            point = last
        }
    }

    /// Begins another line, to which nothing is drawn.
    private mutating func begin(_ point: inout Point, at start: Point) {
        vertices += 1
        include(start)
        point = start
        control = nil
    }

    private mutating func move(_ point: inout Point, to end: Point) {
        vertices += 1
        length += Self.distance(point, end)
        include(end)
        point = end
        control = nil
    }

    private mutating func include(_ point: Point) {
        least.replace(with: point, where: point .< least)
        most.replace(with: point, where: point .> most)
    }

    private static func distance(_ one: Point, _ other: Point) -> Double { abs(one.x - other.x) + abs(one.y - other.y) }
}
#endif
