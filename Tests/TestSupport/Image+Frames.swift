import Testing
public import TintypeImages

extension Image {
    /// All frames, decoded now; the image's own pixels of a still one.
    public var frames: [ImageFrame] {
        guard let animation else { return [ImageFrame(pixels: pixels)] }
        var frames: [ImageFrame] = []
        do throws(ImageError) {
            try animation.forEachFrame { frames.append($0) }
        } catch {
            if animation.frameCount != frames.count { Issue.record(error) }
        }
        return frames
    }

    /// Decodes all frames, as an encoder does, for the error of one that is damaged.
    public func decodingAllFrames() throws(ImageError) -> Image {
        try animation?.forEachFrame { _ in }
        return self
    }
}
