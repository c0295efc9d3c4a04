/// The identity of a load: requests with equal keys get the same image, or bytes with the same header, from the same place, and share all
/// of the work.
///
/// Storage options aren't part of the key, but of the request's ``LoadWishes``.
struct ImageLoadKey: Hashable, Sendable {
    /// The image, with everything that changes its pixels.
    var image: ImageKey
    /// The fetch that the load needs.
    var fetch: FetchKey
    /// True if a part of a file that ends too early will do. Whole images are the same either way, and so are their keys.
    ///
    /// Part of the identity though a load and a display that share an image decode it twice: a coder that allows a part also plays animations
    /// past damaged frames, reads other files than one that doesn't, and its failures are others.
    var allowsPartialImage: Bool
    /// The generation of the environment: a load keeps to the configuration and the coders as they are when it starts.
    var generation: Int
    /// True if the disk is asked for the finished variant.
    var queriesVariant: Bool
    /// True if the disk is asked for larger thumbnails.
    var queriesOtherVariants: Bool
    /// True if the source's ban on storing is obeyed, though the policy doesn't say so.
    var renewsByHTTP: Bool
    /// True if memory is asked for the image before its transformer, or stores it.
    var usesOriginalInMemory: Bool
    var product = Product.image

    /// The product of a load, made of the bytes of its fetch.
    enum Product: Hashable, Sendable {
        case image
        /// The bytes themselves, with a parsed header.
        case bytes(formatHint: ImageFormat?)
        /// The image in a format of the caller's choice, which is part of the key of the image.
        case encoded
    }

    func hash(into hasher: inout Hasher) {
        // The rest seldom differs between loads of the same image, and would have to be hashed anew each time.
        hasher.combine(image)
    }
}
