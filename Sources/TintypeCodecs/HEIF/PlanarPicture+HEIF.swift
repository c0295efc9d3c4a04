#if HEIF
internal import CHEIF
internal import TintypeImages

extension PlanarPicture {
    /// - Parameter image: A `heif_image` of separate planes. It outlives the picture.
    /// - Returns: `nil` if the image has other planes than those of luma and chroma, of red, green and blue, or of gray, or if their
    ///   sizes don't fit together.
    init?(heif image: OpaquePointer) {
        func plane(_ channel: heif_channel) -> Plane? {
            var stride: Int32 = 0
            guard let base = heif_image_get_plane_readonly(image, channel, &stride) else { return nil }
            let size = PixelSize(
                width: Int(heif_image_get_width(image, channel)), height: Int(heif_image_get_height(image, channel)))
            return Plane(base: UnsafeRawPointer(base), bytesPerRow: Int(stride), size: size)
        }
        func chroma(_ blue: heif_channel, _ red: heif_channel) -> (blue: Plane, red: Plane)? {
            guard let blue = plane(blue), let red = plane(red) else { return nil }
            return (blue, red)
        }
        let isRGB = heif_image_get_colorspace(image) == heif_colorspace_RGB
        let channel = isRGB ? heif_channel_G : heif_channel_Y
        guard let luma = plane(channel) else { return nil }
        self.luma = luma
        bits = Int(heif_image_get_bits_per_pixel_range(image, channel))
        switch (heif_image_get_colorspace(image), heif_image_get_chroma_format(image)) {
        case (heif_colorspace_monochrome, _): (layout, self.chroma) = (.none, nil)
        case (heif_colorspace_YCbCr, heif_chroma_420):
            (layout, self.chroma) = (.half, chroma(heif_channel_Cb, heif_channel_Cr))
        case (heif_colorspace_YCbCr, heif_chroma_422):
            (layout, self.chroma) = (.halfWidth, chroma(heif_channel_Cb, heif_channel_Cr))
        case (heif_colorspace_YCbCr, heif_chroma_444):
            (layout, self.chroma) = (.full, chroma(heif_channel_Cb, heif_channel_Cr))
        // As the identity matrix has it: green, blue and red.
        case (heif_colorspace_RGB, heif_chroma_444):
            (layout, self.chroma) = (.full, chroma(heif_channel_B, heif_channel_R))
        default: return nil
        }
        let isOfOneDepth = [heif_channel_Cb, heif_channel_Cr, heif_channel_R, heif_channel_B].allSatisfy { other in
            heif_image_has_channel(image, other) == 0
                || Int(heif_image_get_bits_per_pixel_range(image, other)) == bits
        }
        guard isOfOneDepth, isConsistent else { return nil }
    }
}

extension PlanarRows.Alpha {
    /// - Parameters:
    ///   - image: A `heif_image` of separate planes.
    ///   - size: The size that the alpha plane must have.
    /// - Returns: `nil` if the image has no alpha, or one of another size.
    init?(heif image: OpaquePointer, size: PixelSize) {
        var stride: Int32 = 0
        let channel = heif_channel_Alpha
        guard let base = heif_image_get_plane_readonly(image, channel, &stride),
            Int(heif_image_get_width(image, channel)) == size.width,
            Int(heif_image_get_height(image, channel)) == size.height
        else { return nil }
        bits = Int(heif_image_get_bits_per_pixel_range(image, channel))
        guard (8...16).contains(bits), Int(stride) >= size.width * (bits > 8 ? 2 : 1) else { return nil }
        plane = PlanarPicture.Plane(base: UnsafeRawPointer(base), bytesPerRow: Int(stride), size: size)
        aperture = PixelRect(size: size)
    }
}
#endif
