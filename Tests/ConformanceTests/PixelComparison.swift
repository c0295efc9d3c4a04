import Foundation
import Tintype

/// The pixels as the manifest's digests want them: straight RGBA, rows without gaps, zeros where alpha is zero.
/// `nil` if some alpha is between 0 and 255: premultiplied pixels do not give the straight ones back exactly.
func canonicalBytes(_ pixels: PixelBuffer) -> Data? {
    var bytes = Data(capacity: pixels.width * pixels.height * 4)
    for y in 0..<pixels.height { pixels.withRow(y) { bytes.append(contentsOf: $0) } }
    let isExact = bytes.withUnsafeBytes { raw in
        var index = 3
        while index < raw.count {
            if raw[index] &+ 1 > 1 { return false }
            index += 4
        }
        return true
    }
    return isExact ? bytes : nil
}

/// How close two pictures are.
struct Closeness {
    /// Peak signal-to-noise ratio in decibels, of the colors or of alpha, whichever is less; infinite for equal pixels.
    var psnr: Double
    /// The mean difference of all components, from 0 to 255.
    var meanDifference: Double

    /// `nil` for pictures of different sizes.
    init?(_ left: PixelBuffer, _ right: PixelBuffer) {
        guard left.size == right.size else { return nil }
        var (colors, alphas, differences) = (0, 0, 0)
        for y in 0..<left.height {
            left.withRow(y) { a in
                right.withRow(y) { b in
                    guard let first = a.baseAddress, let second = b.baseAddress, memcmp(first, second, a.count) != 0
                    else { return }
                    var index = 0
                    while index < a.count {
                        let difference = Int(a[index]) - Int(b[index])
                        if index & 3 == 3 {
                            alphas += difference * difference
                        } else {
                            colors += difference * difference
                        }
                        differences += abs(difference)
                        index += 1
                    }
                }
            }
        }
        let pixels = Double(left.size.pixelCount)
        psnr = min(Self.psnr(Double(colors) / (pixels * 3)), Self.psnr(Double(alphas) / pixels))
        meanDifference = Double(differences) / (pixels * 4)
    }

    private static func psnr(_ meanSquare: Double) -> Double {
        meanSquare == 0 ? .infinity : 10 * log10(255 * 255 / meanSquare)
    }
}

extension PixelBuffer {
    /// A smaller picture, each pixel of which is the mean of those whose centres it covers, as the corpora's were made.
    func boxReduced(to target: PixelSize) throws -> PixelBuffer {
        guard target != size, target.width <= width, target.height <= height else { return self }
        let columns = Self.spans(from: width, to: target.width)
        let rows = Self.spans(from: height, to: target.height)
        let buffer = try MutablePixelBuffer(size: target)
        var sums = [SIMD4<UInt32>](repeating: .zero, count: target.width)
        for y in 0..<target.height {
            for x in sums.indices { sums[x] = .zero }
            for source in rows[y] {
                withRow(source) { row in
                    for x in 0..<target.width {
                        for place in columns[x] {
                            let pixel = row.loadUnaligned(fromByteOffset: place * 4, as: SIMD4<UInt8>.self)
                            sums[x] &+= SIMD4<UInt32>(truncatingIfNeeded: pixel)
                        }
                    }
                }
            }
            let row = buffer.row(y)
            for x in 0..<target.width {
                let count = UInt32(rows[y].count * columns[x].count)
                let mean = (sums[x] &+ SIMD4(repeating: count / 2)) / SIMD4(repeating: count)
                row.storeBytes(of: SIMD4<UInt8>(truncatingIfNeeded: mean), toByteOffset: x * 4, as: SIMD4<UInt8>.self)
            }
        }
        return buffer.freeze()
    }

    /// For each target pixel the source pixels whose centres it covers.
    private static func spans(from source: Int, to target: Int) -> [Range<Int>] {
        let scale = Double(source) / Double(target)
        return (0..<target).map { index in
            let middle = (Double(index) + 0.5) * scale
            let begin = max(0, Int(middle - scale / 2 + 0.5))
            return begin..<max(begin + 1, min(source, Int(middle + scale / 2 + 0.5)))
        }
    }
}

extension Orientation {
    /// What turns upright pixels back to how they were stored.
    var inverse: Orientation {
        switch self {
        case .right: .left
        case .left: .right
        default: self
        }
    }
}
