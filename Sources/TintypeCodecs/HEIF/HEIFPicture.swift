#if HEIF
internal import CHEIF
internal import FoundationEssentials
internal import TintypeImages

/// Pixels as libheif takes them.
struct HEIFPicture {
    let pixels: PixelBuffer
    let hasAlpha: Bool

    /// The picture, to be released by the caller.
    /// - Parameter bits: 8 for pixels of 8 bits, else 10 or 12.
    func make(bits: Int, profile: Data?) throws(ImageError) -> OpaquePointer {
        let chroma =
            bits == 8
            ? (hasAlpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB)
            : (hasAlpha ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBB_LE)
        let (width, height) = (Int32(pixels.width), Int32(pixels.height))
        var created: OpaquePointer?
        try Self.check(heif_image_create(width, height, heif_colorspace_RGB, chroma, &created))
        guard let image = created else {
            throw Self.failure("libheif couldn't allocate memory for \(pixels.size) pixels")
        }
        do throws(ImageError) {
            try Self.check(heif_image_add_plane(image, heif_channel_interleaved, width, height, Int32(bits)))
            var stride: Int32 = 0
            guard let plane = heif_image_get_plane(image, heif_channel_interleaved, &stride) else {
                throw Self.failure("libheif couldn't allocate memory for \(pixels.size) pixels")
            }
            for y in 0..<pixels.height {
                let row = plane + y * Int(stride)
                if bits == 8 { copy(y, to: row) } else { copyDeep(y, to: row, bits: bits) }
            }
            if let profile {
                let error = profile.withUnsafeBytes {
                    heif_image_set_raw_color_profile(image, "prof", $0.baseAddress, $0.count)
                }
                try Self.check(error)
            }
            if pixels.format == .rgbaFloat16 {
                let profile = try Self.makePQProfile()
                defer { heif_nclx_color_profile_free(profile) }
                try Self.check(heif_image_set_nclx_color_profile(image, profile))
            }
        } catch {
            heif_image_release(image)
            throw error
        }
        return image
    }

    private func copy(_ y: Int, to row: UnsafeMutablePointer<UInt8>) {
        pixels.withRow(y) { bytes in
            guard let base = bytes.baseAddress else { return }
            guard !hasAlpha else {
                Premultiplication.unpremultiply(base, into: UnsafeMutableRawPointer(row), count: pixels.width)
                return
            }
            for x in 0..<pixels.width {
                for component in 0..<3 { row[x * 3 + component] = bytes[x * 4 + component] }
            }
        }
    }

    /// Writes numbers with the given bits, the low byte first.
    private func copyDeep(_ y: Int, to row: UnsafeMutablePointer<UInt8>, bits: Int) {
        let most = UInt32(1) << UInt32(bits) - 1
        let components = hasAlpha ? 4 : 3
        withUnsafeTemporaryAllocation(of: UInt16.self, capacity: pixels.width * 4) { straight in
            guard let base = straight.baseAddress else { return }
            pixels.writeStraightDeepRow(y, to: base)
            var place = 0
            for x in 0..<pixels.width {
                for component in 0..<components {
                    let number = (UInt32(base[x * 4 + component]) * most + 32_767) / 65_535
                    row[place] = UInt8(truncatingIfNeeded: number)
                    row[place + 1] = UInt8(truncatingIfNeeded: number >> 8)
                    place += 2
                }
            }
        }
    }

    /// PQ with the primaries of BT.2020, to be freed by the caller.
    static func makePQProfile() throws(ImageError) -> UnsafeMutablePointer<heif_color_profile_nclx> {
        guard let profile = heif_nclx_color_profile_alloc() else { throw failure("libheif couldn't allocate memory") }
        profile.pointee.color_primaries = heif_color_primaries_ITU_R_BT_2020_2_and_2100_0
        profile.pointee.transfer_characteristics = heif_transfer_characteristic_ITU_R_BT_2100_0_PQ
        profile.pointee.matrix_coefficients = heif_matrix_coefficients_ITU_R_BT_2020_2_non_constant_luminance
        profile.pointee.full_range_flag = 1
        return profile
    }

    static func check(_ error: heif_error) throws(ImageError) {
        guard error.code != heif_error_Ok else { return }
        throw failure(
            "libheif couldn't write the image: \(error.message.map { String(cString: $0) } ?? "unknown error")")
    }

    static func failure(_ reason: String) -> ImageError { ImageError(.encodeFailed, stage: .encode, reason: reason) }
}
#endif
