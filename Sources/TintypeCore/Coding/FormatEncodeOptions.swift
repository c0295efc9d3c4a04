/// Settings that only one format's encoder supports, stored in ``EncodeOptions``.
///
/// A program that adds a format can add settings for it, because the core knows none of the types.
public protocol FormatEncodeOptions: Sendable, Hashable {
    /// Creates the default settings.
    init()

    /// A text for cache keys: different settings have different texts.
    ///
    /// The default implementation describes all stored properties. Implement it yourself if a property's description is
    /// incomplete, as that of `Data` is.
    var cacheKey: String { get }
}

extension FormatEncodeOptions {
    public var cacheKey: String { String(reflecting: self) }
}

/// Settings by their type. Default settings are not stored, so that equivalent options are equal.
struct FormatEncodeSettings: Sendable, Hashable {
    private struct Settings: Sendable, Hashable {
        let value: any FormatEncodeOptions

        static func == (left: Settings, right: Settings) -> Bool { left.value.isEqual(to: right.value) }
        func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
    }

    private var settings: [ObjectIdentifier: Settings] = [:]

    /// The cache keys of the settings, in a fixed order.
    var cacheKeys: [String] {
        settings.values.map { "\(String(reflecting: type(of: $0.value))):\($0.value.cacheKey)" }.sorted()
    }

    subscript<Options: FormatEncodeOptions>(_ type: Options.Type) -> Options {
        get { settings[ObjectIdentifier(type)]?.value as? Options ?? Options() }
        set { settings[ObjectIdentifier(type)] = newValue == Options() ? nil : Settings(value: newValue) }
    }
}

extension FormatEncodeOptions {
    fileprivate func isEqual(to other: any FormatEncodeOptions) -> Bool { self == other as? Self }
}
