/// Settings that one format's encoder has and others have not, carried by ``EncodeOptions``.
///
/// A program that adds a format can add settings for it: the core knows none of the types.
public protocol FormatEncodeOptions: Sendable, Hashable {
    /// The defaults.
    init()

    /// A spelling of the settings for cache keys: different settings have different spellings.
    ///
    /// The default implementation spells all stored properties. Implement it if one of them has a description that leaves
    /// something out, as that of `Data` does.
    var cacheKey: String { get }
}

extension FormatEncodeOptions {
    public var cacheKey: String { String(reflecting: self) }
}

/// Settings by their type. Those that are as ``FormatEncodeOptions/init()`` makes them are not kept, so that options that
/// mean the same are equal.
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
