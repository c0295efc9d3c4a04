/// Settings that one format's encoder has and others have not, carried by ``EncodeOptions``.
///
/// A program that adds a format can add settings for it: the core knows none of the types.
public protocol FormatEncodeOptions: Sendable, Hashable {
    /// The defaults.
    init()
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

    subscript<Options: FormatEncodeOptions>(_ type: Options.Type) -> Options {
        get { settings[ObjectIdentifier(type)]?.value as? Options ?? Options() }
        set { settings[ObjectIdentifier(type)] = newValue == Options() ? nil : Settings(value: newValue) }
    }
}

extension FormatEncodeOptions {
    fileprivate func isEqual(to other: any FormatEncodeOptions) -> Bool { self == other as? Self }
}
