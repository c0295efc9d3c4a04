/// The canonical key of a transformer: `name(parameter=value,…)`.
///
/// Numbers that are equal have the same spelling: `1.0` is `1`, and `-0` is `0`. Other numbers have the shortest decimal that is
/// read as the same number.
struct TransformKey {
    private let name: String
    private var parts: [String] = []

    init(_ name: String) { self.name = name }

    var description: String { "\(name)(\(parts.joined(separator: ",")))" }

    /// Returns the key with a parameter, unless its value is the default.
    func with(_ parameter: String, _ value: Double?, default defaultValue: Double? = nil) -> TransformKey {
        guard let value, value != defaultValue else { return self }
        return with(parameter, text: Self.number(value))
    }

    func with(_ parameter: String, _ value: Int?, default defaultValue: Int? = nil) -> TransformKey {
        guard let value, value != defaultValue else { return self }
        return with(parameter, text: String(value))
    }

    func with(_ parameter: String, _ color: PixelColor, default defaultValue: PixelColor? = nil) -> TransformKey {
        guard color != defaultValue else { return self }
        return with(parameter, text: color.keyPart)
    }

    /// Returns the key with a flag, if it is set.
    func with(_ flag: String, if isSet: Bool) -> TransformKey { isSet ? with(part: flag) : self }

    func with(_ parameter: String, text: String) -> TransformKey { with(part: "\(parameter)=\(text)") }

    private func with(part: String) -> TransformKey {
        var key = self
        key.parts.append(part)
        return key
    }

    /// Returns the canonical spelling of a number.
    static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : value.description
    }
}

extension PixelColor {
    /// The components, separated by colons, without an alpha of 1.
    fileprivate var keyPart: String {
        let components = alpha == 1 ? [red, green, blue] : [red, green, blue, alpha]
        return components.map { component in
            component == component.rounded() && abs(component) < 1e7 ? String(Int(component)) : component.description
        }.joined(separator: ":")
    }
}
