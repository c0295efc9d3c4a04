import Tintype

extension Image {
    /// All frames that can be decoded; the image's own pixels of a still one.
    var frames: [ImageFrame] {
        var frames: [ImageFrame] = []
        try? animation?.forEachFrame { frames.append($0) }
        return isAnimated ? frames : [ImageFrame(pixels: pixels)]
    }
}
