@testable import TintypeCaching
@testable import TintypeLoading

/// A removal of pictures: by the program, or by new bytes that replace them.
struct Removal: Hashable {
    enum Extent: Hashable { case picture(ModelPicture), source(Int), everything }

    var extent: Extent
    var layers: CacheLayers
    /// The version that replaces what is removed.
    var replacement: Int?

    func concerns(_ picture: ModelPicture, in layer: CacheLayers) -> Bool {
        guard layers.contains(layer) else { return false }
        return switch extent {
        case .picture(let removed): removed == picture
        case .source(let source): source == picture.source
        case .everything: true
        }
    }

    /// True if it concerns any picture of a source. A removal is counted for all of them, so that it may cost stores of the others.
    func concerns(source: Int, in layer: CacheLayers) -> Bool {
        guard layers.contains(layer) else { return false }
        return switch extent {
        case .picture(let removed): removed.source == source
        case .source(let removed): removed == source
        case .everything: true
        }
    }
}
