import Foundation
import Tintype

/// The pixels as the manifest's digests want them: straight RGBA, rows without gaps, zeros where alpha is zero.
/// `nil` if some alpha is between 0 and 255: premultiplied pixels do not give the straight ones back exactly.
func canonicalBytes(_ pixels: PixelBuffer) -> Data? {
    var bytes = Data(capacity: pixels.width * pixels.height * 4)
    for y in 0..<pixels.height { pixels.withRow(y) { bytes.append(contentsOf: $0) } }
    let isExact = bytes.withUnsafeBytes { raw in
        stride(from: 3, to: raw.count, by: 4).allSatisfy { raw[$0] == 0 || raw[$0] == 255 }
    }
    return isExact ? bytes : nil
}

/// The mean difference of all components, from 0 to 255; `nil` for pictures of different sizes.
func meanDifference(_ left: PixelBuffer, _ right: PixelBuffer) -> Double? {
    guard left.size == right.size else { return nil }
    var sum = 0
    for y in 0..<left.height {
        left.withRow(y) { a in
            right.withRow(y) { b in for index in a.indices { sum += abs(Int(a[index]) - Int(b[index])) } }
        }
    }
    return Double(sum) / Double(left.width * left.height * 4)
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
