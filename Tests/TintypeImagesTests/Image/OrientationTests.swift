import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

@Suite("Orientation", .timeLimited)
struct OrientationTests {
    /// Where the pixel that is shown at (x, y) is stored, by the table of Exif 2.32, 4.6.4 A: which edges of the
    /// picture the stored row 0 and column 0 are.
    private static func stored(_ x: Int, _ y: Int, _ orientation: Orientation, in size: PixelSize) -> (Int, Int) {
        let (right, bottom) = (size.width - 1, size.height - 1)
        return switch orientation {
        case .up: (x, y)  // row 0 is the top, column 0 the left
        case .upMirrored: (right - x, y)  // top, right
        case .down: (right - x, bottom - y)  // bottom, right
        case .downMirrored: (x, bottom - y)  // bottom, left
        case .leftMirrored: (y, x)  // left, top
        case .right: (y, bottom - x)  // right, top
        case .rightMirrored: (right - y, bottom - x)  // right, bottom
        case .left: (right - y, x)  // left, bottom
        }
    }

    private static let inverses: [Orientation: Orientation] = [.right: .left, .left: .right]

    /// Not square, smaller and larger than a block, and with rest blocks at both edges.
    static let sizes = [(3, 2), (1, 5), (5, 1), (1, 1), (16, 32), (70, 45), (33, 130)].map {
        PixelSize(width: $0.0, height: $0.1)
    }

    @Test("Each pixel comes to its place", .capability("COD-36"), arguments: Orientation.allCases, sizes)
    func places(orientation: Orientation, size: PixelSize) throws {
        let source = try numbered(size)
        let upright = try source.oriented(orientation)
        #expect(upright.size == orientation.display(size))
        for y in 0..<upright.height {
            for x in 0..<upright.width {
                let (storedX, storedY) = Self.stored(x, y, orientation, in: size)
                #expect(upright[x, y] == source[storedX, storedY], "\(x), \(y)")
            }
        }
    }

    @Test("The opposite orientation restores the pixels", arguments: Orientation.allCases, sizes)
    func roundTrip(orientation: Orientation, size: PixelSize) throws {
        let source = try numbered(size)
        let inverse = Self.inverses[orientation] ?? orientation
        #expect(try source.oriented(orientation).oriented(inverse) == source)
    }

    @Test("Pixels of 16 bits a component are turned whole", arguments: Orientation.allCases)
    func deepPixels(orientation: Orientation) throws {
        let size = PixelSize(width: 37, height: 21)
        let buffer = try MutablePixelBuffer(size: size, format: .rgba16)
        for y in 0..<size.height {
            for x in 0..<size.width {
                buffer.row(y).storeBytes(of: UInt64(y * 1_000 + x) << 24, toByteOffset: x * 8, as: UInt64.self)
            }
        }
        let upright = try buffer.freeze().oriented(orientation)
        for y in 0..<upright.height {
            for x in 0..<upright.width {
                let (storedX, storedY) = Self.stored(x, y, orientation, in: size)
                let pixel = upright.withRow(y) { $0.load(fromByteOffset: x * 8, as: UInt64.self) }
                #expect(pixel == UInt64(storedY * 1_000 + storedX) << 24)
            }
        }
    }

    @Test("An upright image is the same buffer")
    func upright() throws {
        let source = try numbered(PixelSize(width: 4, height: 3))
        #expect(try source.oriented(.up) === source)
    }

    private func numbered(_ size: PixelSize) throws -> PixelBuffer {
        try .drawn(size) { x, y in SIMD4(UInt8(x % 251), UInt8(y % 251), UInt8(x / 251 * 16 + y / 251), 255) }
    }
}
