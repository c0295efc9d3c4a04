/// Settings that only a single coder supports, stored in ``DecodeOptions`` or ``EncodeOptions``.
///
/// A program that adds a coder can add settings for it, because the core doesn't depend on their types:
///
/// ```swift
/// struct MapOptions: FormatOptions {
///     var layer = 0
/// }
///
/// request.decode[MapOptions.self].layer = 2  // options[MapOptions.self] in the coder
/// ```
///
/// Settings in ``DecodeOptions`` are part of the identity of the image, as all decode options are.
public protocol FormatOptions: Sendable, Hashable {
    /// Creates the default settings.
    init()

    /// The text of the settings in cache keys. Different settings must have different texts.
    ///
    /// The default implementation describes all stored properties. Implement it yourself if the description of a property is incomplete, as
    /// for `Data`, or if the module has other private settings of the same name. It may be read on any thread.
    var cacheKey: String { get }
}

extension FormatOptions {
    public var cacheKey: String { String(reflecting: self).withoutAddresses }
}

/// Settings by their type. Default settings are not stored, so that equivalent options are equal.
package struct FormatSettings: Sendable, Hashable {
    private struct Settings: Sendable, Hashable {
        let value: any FormatOptions

        static func == (left: Settings, right: Settings) -> Bool { left.value.isEqual(to: right.value) }
        func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
    }

    /// `nil` if there are none, which costs nothing to copy and to compare.
    private var settings: [ObjectIdentifier: Settings]?

    package init() {}

    /// The cache keys of the settings, in a fixed order.
    package var cacheKeys: [String] {
        settings?.values.map { settings in
            "\(String(reflecting: type(of: settings.value)).withoutAddresses):\(settings.value.cacheKey)"
        }.sorted() ?? []
    }

    subscript<Options: FormatOptions>(_ type: Options.Type) -> Options {
        get { settings?[ObjectIdentifier(type)]?.value as? Options ?? Options() }
        set {
            var settings = settings ?? [:]
            settings[ObjectIdentifier(type)] = newValue == Options() ? nil : Settings(value: newValue)
            self.settings = settings.isEmpty ? nil : settings
        }
    }
}

extension FormatOptions {
    fileprivate func isEqual(to other: any FormatOptions) -> Bool { self == other as? Self }
}

extension String {
    /// The text without the addresses that stand for the contexts of private types. They differ in each process, and keys outlive it.
    fileprivate var withoutAddresses: String {
        let parts = split(separator: "(unknown context at $", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(into: String(parts[0])) { text, part in
            text += part.drop { $0 != "." }.dropFirst()
        }
    }
}

/// No decoder knows the types of a program's settings, so only none at all can be encoded.
extension FormatSettings: Codable {
    package init(from decoder: any Decoder) throws { _ = try [String](from: decoder) }

    package func encode(to encoder: any Encoder) throws {
        if settings == nil { return try cacheKeys.encode(to: encoder) }
        throw EncodingError.invalidValue(
            self, .init(codingPath: encoder.codingPath, debugDescription: "settings of single formats can't be encoded")
        )
    }
}
