@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

// Short descriptions, so that a failure of the random tests can be read.

/// The words for which the condition is true.
private func words(_ words: (String, if: Bool)...) -> String { words.filter(\.if).map { " " + $0.0 }.joined() }

private func name(_ layers: CacheLayers) -> String {
    [CacheLayers.all: "all", .memory: "memory", .disk: "disk"][layers] ?? "nothing"
}

extension ModelPicture: CustomStringConvertible {
    var description: String {
        "\(source).\(shape)\(transformers.map { "+\($0)" }.joined())"
            + words(
                ("fast", if: isFast), ("first frame", if: firstFrameOnly), ("source color", if: keepsColorSpace),
                ("@2x", if: isDoubleScale), ("transformed frames", if: transformsFrames),
                ("low quality", if: isLowQuality))
    }
}

extension Wish: CustomStringConvertible {
    var description: String {
        "\(wantsData ? "data" : "load") \(picture), \(policy) from \(name(queryFrom)) to \(name(storeTo))"
            + words(
                ("storing the variant", if: storesVariant), ("only if animated", if: requiresAnimation),
                ("with data", if: queriesMemoryData), ("with token", if: token != 0))
    }
}

extension Removal: CustomStringConvertible {
    var description: String { "remove \(extent) from \(name(layers))" }
}

extension Answer: CustomStringConvertible {
    var description: String {
        if let error { return "\(error)" }
        guard let version, let source else { return "done" }
        return
            "version \(version) from \(source), \(freshness), \(bytes.map { "bytes of version \($0)" } ?? "no bytes")"
    }
}

extension Caches: CustomStringConvertible {
    var description: String { "memory \(memory), disk \(disk)" }
}

extension CallerHistory.Slot: CustomStringConvertible {
    var description: String { "\(picture.source).\(picture.shape) in \(name(layer))" }
}

extension CallerHistory.Load: CustomStringConvertible {
    var description: String {
        "\(user) (\(language)) \(wantsBytes ? "data" : "load") \(picture.source).\(picture.shape), \(policy) from \(name(queries)) to \(name(stores))"
            + words(("storing the variant", if: storesVariant), ("giving up", if: patience != nil))
    }
}

extension CallerHistory.Removal: CustomStringConvertible {
    var description: String {
        "remove \(source.map { "\($0)" } ?? "all").\(shape.map { "\($0)" } ?? "*") from \(name(layers))"
    }
}

extension CallerHistory.Event: CustomStringConvertible {
    var description: String { "\(begin)–\(end): \(action) gave \(outcome)" }
}

extension NumberedServer.Statement: CustomStringConvertible {
    var description: String {
        "\(asked): picture \(number) of \(source) for \(user) (\(language)), max-age \(rules.maxAge)"
            + words(("no-store", if: rules.noStore), ("varies", if: rules.varies))
    }
}
