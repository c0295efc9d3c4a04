/// Checks of a transformer's parameters, with errors that name the transformer and the parameter.
struct ParameterCheck {
    let transformer: String

    init(_ transformer: String) { self.transformer = transformer }

    /// Returns an error for a parameter.
    func error(_ parameter: String, _ value: some CustomStringConvertible, _ requirement: String) -> ImageError {
        ImageError(
            .transformFailed, stage: .transform,
            reason: "the \(parameter) of \(transformer) is \(value), but must be \(requirement)")
    }

    /// - Throws: ``ImageError/Code/transformFailed`` for a number outside the range, and for NaN.
    func check(_ parameter: String, _ value: Double, in range: ClosedRange<Double>) throws(ImageError) {
        guard range.contains(value) else {
            let requirement =
                range.upperBound == .greatestFiniteMagnitude
                ? range.lowerBound == -.greatestFiniteMagnitude
                    ? "a finite number" : "a finite number of at least \(TransformKey.number(range.lowerBound))"
                : "\(TransformKey.number(range.lowerBound)) to \(TransformKey.number(range.upperBound))"
            throw error(parameter, value, requirement)
        }
    }

    func check(_ parameter: String, finite value: Double) throws(ImageError) {
        try check(parameter, value, in: -.greatestFiniteMagnitude ... .greatestFiniteMagnitude)
    }

    func check(_ parameter: String, positive value: Double) throws(ImageError) {
        guard value > 0, value.isFinite else { throw error(parameter, value, "a positive finite number") }
    }

    /// The largest side of an image, which keeps all arithmetic far from overflow.
    static let longestSide = 1 << 22

    /// - Throws: ``ImageError/Code/transformFailed`` for a side that no image can have.
    func check(side parameter: String, _ value: Int?) throws(ImageError) {
        guard let value else { return }
        guard value > 0, value <= Self.longestSide else {
            throw error(parameter, value, "1 to \(Self.longestSide)")
        }
    }

    /// - Throws: ``ImageError/Code/transformFailed`` for a negative distance, or a distance larger than any image.
    func check(distance parameter: String, _ value: Int) throws(ImageError) {
        guard value >= 0, value <= Self.longestSide else {
            throw error(parameter, value, "0 to \(Self.longestSide)")
        }
    }

    /// - Throws: ``ImageError/Code/transformFailed`` for a color with a component that isn't finite, or an alpha outside of 0
    ///   to 1.
    func check(_ parameter: String, _ color: PixelColor) throws(ImageError) {
        guard color.red.isFinite, color.green.isFinite, color.blue.isFinite, (0...1).contains(color.alpha) else {
            throw error(parameter, "\(color)", "of finite components, with an alpha of 0 to 1")
        }
    }
}
