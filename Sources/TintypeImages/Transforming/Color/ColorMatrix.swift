internal import Glibc

/// A matrix of four rows and five columns that maps straight, gamma-encoded RGBA to RGBA. The fifth column is added.
///
/// Components range from 0 to 1. The rows produce red, green, blue and alpha, as in SVG's `feColorMatrix` (Filter Effects
/// Module Level 1).
package struct ColorMatrix: Sendable, Hashable {
    /// The 20 numbers, row by row.
    package let values: [Double]

    /// Creates a matrix.
    /// - Parameter values: 20 numbers, row by row; `nil` for another count.
    package init?(_ values: [Double]) {
        guard values.count == 20 else { return nil }
        self.values = values
    }

    private init(rows: [[Double]]) { values = rows.flatMap(\.self) }

    /// The matrix that changes nothing.
    package static let identity = ColorMatrix(rows: [
        [1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0],
    ])

    /// Returns a mix of the identity and a matrix.
    private static func mix(_ amount: Double, of rows: [[Double]]) -> ColorMatrix {
        ColorMatrix(
            rows: rows.enumerated().map { index, row in
                (0..<5).map { column in
                    let unchanged = index == column ? 1.0 : 0
                    return unchanged + (row[column] - unchanged) * amount
                }
            })
    }

    private static let luma = [0.2126, 0.7152, 0.0722, 0, 0]

    /// Returns a matrix that removes color.
    /// - Parameter amount: 0 to change nothing, 1 for gray.
    package static func grayscale(_ amount: Double = 1) -> ColorMatrix {
        mix(amount, of: [luma, luma, luma, [0, 0, 0, 1, 0]])
    }

    /// Returns a matrix for brown tones.
    /// - Parameter amount: 0 to change nothing, 1 for brown tones alone.
    package static func sepia(_ amount: Double = 1) -> ColorMatrix {
        mix(
            amount,
            of: [
                [0.393, 0.769, 0.189, 0, 0], [0.349, 0.686, 0.168, 0, 0], [0.272, 0.534, 0.131, 0, 0], [0, 0, 0, 1, 0],
            ])
    }

    /// Returns a matrix that inverts color.
    /// - Parameter amount: 0 to change nothing, 0.5 for uniform gray, 1 to invert.
    package static func invert(_ amount: Double = 1) -> ColorMatrix {
        mix(amount, of: [[-1, 0, 0, 0, 1], [0, -1, 0, 0, 1], [0, 0, -1, 0, 1], [0, 0, 0, 1, 0]])
    }

    /// Returns a matrix that multiplies the distance from gray.
    /// - Parameter amount: 0 for gray, 1 to change nothing, more for stronger color.
    package static func saturation(_ amount: Double) -> ColorMatrix { grayscale(1 - amount) }

    /// Returns a matrix that multiplies color.
    /// - Parameter amount: 0 for black, 1 to change nothing, more for brighter color.
    package static func brightness(_ amount: Double) -> ColorMatrix {
        ColorMatrix(rows: [[amount, 0, 0, 0, 0], [0, amount, 0, 0, 0], [0, 0, amount, 0, 0], [0, 0, 0, 1, 0]])
    }

    /// Returns a matrix that multiplies the distance from medium gray.
    /// - Parameter amount: 0 for gray, 1 to change nothing, more for stronger contrast.
    package static func contrast(_ amount: Double) -> ColorMatrix {
        let offset = 0.5 - 0.5 * amount
        return ColorMatrix(rows: [
            [amount, 0, 0, 0, offset], [0, amount, 0, 0, offset], [0, 0, amount, 0, offset], [0, 0, 0, 1, 0],
        ])
    }

    /// Returns a matrix that turns the hue, as SVG's `hueRotate` does.
    /// - Parameter degrees: the angle.
    package static func hueRotation(degrees: Double) -> ColorMatrix {
        let angle = degrees.truncatingRemainder(dividingBy: 360) * .pi / 180
        let (cosine, sine) = (cos(angle), sin(angle))
        func row(_ own: Int, _ sines: [Double]) -> [Double] {
            let weights = [0.213, 0.715, 0.072]
            return (0..<3).map { weights[$0] + cosine * (($0 == own ? 1 : 0) - weights[$0]) + sine * sines[$0] } + [
                0, 0,
            ]
        }
        return ColorMatrix(rows: [
            row(0, [-0.213, -0.715, 0.928]), row(1, [0.143, 0.140, -0.283]), row(2, [-0.787, 0.715, 0.072]),
            [0, 0, 0, 1, 0],
        ])
    }

    /// Returns the matrix that applies this matrix first, and then another, without limiting components in between.
    /// - Parameter next: the matrix to apply afterwards.
    package func concatenated(with next: ColorMatrix) -> ColorMatrix {
        ColorMatrix(
            rows: (0..<4).map { row in
                (0..<5).map { column in
                    let sum = (0..<4).reduce(0.0) { $0 + next[row, $1] * self[$1, column] }
                    return column == 4 ? sum + next[row, 4] : sum
                }
            })
    }

    /// Accesses the number in a row, from 0 to 3, and a column, from 0 to 4.
    /// - Parameters:
    ///   - row: the row, counted from 0 at the top.
    ///   - column: the column, counted from 0.
    package subscript(row: Int, column: Int) -> Double { values[row * 5 + column] }

    /// The four columns of a matrix for premultiplied pixels; `nil` if alpha changes, or changes color.
    ///
    /// A premultiplied offset is the offset times alpha, so it's part of the column of alpha.
    var premultipliedColumns: [Float]? {
        guard Array(values[15..<20]) == [0, 0, 0, 1, 0], (0..<3).allSatisfy({ self[$0, 3] == 0 }) else { return nil }
        return (0..<4).flatMap { column in
            (0..<4).map { row in
                row == 3 ? (column == 3 ? 1 : 0) : Float(self[row, column == 3 ? 4 : column])
            }
        }
    }
}
