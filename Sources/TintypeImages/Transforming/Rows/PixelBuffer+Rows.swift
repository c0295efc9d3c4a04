extension PixelBuffer {
    /// Returns pixels of the same size and format, each row made of the components of the same row.
    /// - Parameters:
    ///   - context: the environment of the transformer.
    ///   - isChanged: returns false for a row that is copied as it is.
    ///   - change: changes the premultiplied components of a row in place. 1 is the maximum of the integer formats.
    func mappingComponents(
        _ context: ProcessingContext, where isChanged: (_ y: Int) -> Bool = { _ in true },
        _ change: (_ row: UnsafeMutableBufferPointer<SIMD4<Float>>, _ y: Int) -> Void
    ) throws(ImageError) -> PixelBuffer {
        let target = try context.buffer(size, format: format)
        let scratch = try context.scratch(floats: width * 4)
        let floats = scratch.base.bindMemory(to: Float.self, capacity: width * 4)
        let pixels = ComponentRow.pixels(floats, width)
        for y in 0..<height {
            try context.checkCancellation(row: y)
            guard isChanged(y) else {
                copy(row: y, from: 0, count: width, to: target.row(y))
                continue
            }
            unpackRow(y, to: floats)
            change(pixels, y)
            ComponentRow.pack(floats, to: target.row(y), pixels: width, format: format)
        }
        return target.freeze()
    }

    /// Converts a row to premultiplied components.
    func unpackRow(_ y: Int, to components: UnsafeMutablePointer<Float>) {
        withRow(y) { row in
            guard let base = row.baseAddress else { return }
            ComponentRow.unpack(base, to: components, pixels: width, format: format)
        }
    }

    /// Copies pixels of a row.
    func copy(row y: Int, from x: Int, count: Int, to target: UnsafeMutableRawPointer) {
        withRow(y) { row in
            guard let base = row.baseAddress else { return }
            target.copyMemory(from: base + x * format.bytesPerPixel, byteCount: count * format.bytesPerPixel)
        }
    }

    /// Returns a part of the pixels. The part has to be inside the bounds.
    func cropped(to part: PixelRect, _ context: ProcessingContext) throws(ImageError) -> PixelBuffer {
        guard part != PixelRect(size) else { return self }
        let target = try context.buffer(part.size, format: format)
        for y in 0..<part.height {
            copy(row: part.y + y, from: part.x, count: part.width, to: target.row(y))
        }
        return target.freeze()
    }
}

extension SIMD4<Float> {
    /// The pixel without premultiplication; transparent black without alpha.
    var straight: SIMD4<Float> {
        guard w > 0 else { return .zero }
        guard w < 1 else { return self }
        // A product with the inverse of alpha wouldn't be exactly 1 for white.
        return self / SIMD4(w, w, w, 1)
    }

    /// The premultiplied pixel of straight components.
    var premultiplied: SIMD4<Float> { self * SIMD4(w, w, w, 1) }
}
